#include "anesi/tensors/log_beliefs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// How far below p(y|P) a probability of zero is taken to be while derivatives by it are computed, in nats: too little
// to change anything, and enough to be divided by again.
constexpr double kNearlyNever = 400, kLeastLog = -300;

torch::Tensor in_doubles(const torch::Tensor& beliefs) { return beliefs.to(torch::kCPU, torch::kFloat64); }

// bool [worlds, width]: which places are values of a variable.
torch::Tensor places_of(const Space& space, std::int64_t width) {
  return torch::arange(width).unsqueeze(0) < torch::tensor(space.domains(), torch::kInt64).unsqueeze(1);
}

void require_beliefs(const torch::Tensor& logs) {
  if (logs.dim() == 3) return;
  throw Error(fmt::format("exact inference: beliefs of shape [{}]; [batch, variables, values] is expected",
                          fmt::join(logs.sizes(), ", ")));
}

}  // namespace

LogBeliefs LogBeliefs::of(const torch::Tensor& beliefs) { return LogBeliefs(in_doubles(beliefs.detach()).log()); }

LogBeliefs LogBeliefs::differentiable(const torch::Tensor& beliefs) {
  const auto shares = in_doubles(beliefs);
  const auto none = shares <= 0;
  return LogBeliefs(shares.masked_fill(none, 1).log().masked_fill(none, kLogOfZero));
}

torch::Tensor LogBeliefs::known_log_prob(const torch::Tensor& known) const {
  const auto of_each = logs.gather(2, known.clamp_min(0).unsqueeze(2)).squeeze(2);
  return of_each.masked_fill(known == kUnset, 0).sum(1);
}

torch::Tensor through_logs(const torch::Tensor& beliefs, const Space& worlds,
                           const std::function<torch::Tensor(const LogBeliefs&)>& ask) {
  if (!torch::GradMode::is_enabled() || !beliefs.requires_grad()) {
    return ask(LogBeliefs::of(beliefs)).to(beliefs.device());
  }
  const auto shares = in_doubles(beliefs);
  const auto none = shares <= 0;
  const auto logs = shares.masked_fill(none, 1).log();
  const auto zeros = none.logical_and(places_of(worlds, shares.size(2)));
  if (!zeros.any().item<bool>()) return ask(LogBeliefs(logs.masked_fill(none, kLogOfZero))).to(beliefs.device());
  // The derivative by a probability of zero is that by one which is nearly zero, beside any world there is. Where
  // worlds may be next to impossible there is no room below them, and that derivative is left out.
  const auto result = ask(LogBeliefs(logs.detach().masked_fill(none, kLogOfZero)));
  const auto impossible = result.isneginf();
  const auto least_world = logs.detach().amin(2).sum(1).view({-1, 1, 1});
  const auto floor = least_world.clamp_min(kLeastLog) - kNearlyNever;
  const auto nearly = torch::where(zeros.logical_and(least_world > kLeastLog), floor + shares * (-floor).exp(),
                                   logs.masked_fill(none, kLogOfZero));
  const auto near = ask(LogBeliefs(nearly));
  const auto moved = near + (result - near.detach()).masked_fill(impossible, 0);
  return torch::where(impossible, result, moved).to(beliefs.device());
}

LogBeliefRows belief_rows_of(const torch::Tensor& logs) {
  require_beliefs(logs);
  return {logs.const_data_ptr<double>(), logs.size(0), logs.size(1), logs.size(2)};
}

GradientRows gradient_rows_of(torch::Tensor& numbers) {
  require_beliefs(numbers);
  return {numbers.mutable_data_ptr<double>(), numbers.size(0), numbers.size(1), numbers.size(2)};
}

}  // namespace anesi

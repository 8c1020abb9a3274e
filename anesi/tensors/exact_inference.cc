#include "anesi/tensors/exact_inference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

// How far below p(y|P) a probability of zero is taken to be while derivatives by it are computed, in nats: too little
// to change anything, and enough to be divided by again.
constexpr double kNearlyNever = 400, kLeastLog = -300;

class NoFurther final : public torch::autograd::Function<NoFurther> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& gradient,
                               const torch::Tensor& /*inputs*/, const torch::Tensor& /*upstream*/) {
    return gradient.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    throw UsageError(
        "exact inference by automata and circuits has first derivatives only; enumeration "
        "and networks have second ones, too");
  }
};

torch::Tensor in_doubles(const torch::Tensor& beliefs) { return beliefs.to(torch::kCPU, torch::kFloat64); }

// bool [worlds, width]: which places are values of a variable.
torch::Tensor places_of(const Space& space, std::int64_t width) {
  return torch::arange(width).unsqueeze(0) < torch::tensor(space.domains(), torch::kInt64).unsqueeze(1);
}

torch::Tensor checked(const torch::Tensor& logs, const torch::Tensor& outputs, const Space& worlds) {
  if (logs.dim() != 3 || logs.size(1) != worlds.variables() || logs.size(2) < worlds.largest_domain()) {
    throw Error(fmt::format("exact inference: beliefs of shape [{}]; [batch, {}, {}] is expected",
                            fmt::join(logs.sizes(), ", "), worlds.variables(), worlds.largest_domain()));
  }
  if (outputs.dim() != 2 || outputs.size(0) != logs.size(0)) {
    throw Error(fmt::format("exact inference: outputs of shape [{}] for {} beliefs", fmt::join(outputs.sizes(), ", "),
                            logs.size(0)));
  }
  return outputs.to(torch::kCPU, torch::kInt64).contiguous();
}

}  // namespace

torch::Tensor differentiable_no_further(const torch::Tensor& gradient, const torch::Tensor& inputs,
                                        const torch::Tensor& upstream) {
  return torch::GradMode::is_enabled() ? NoFurther::apply(gradient, inputs, upstream) : gradient;
}

LogBeliefs LogBeliefs::of(const torch::Tensor& beliefs) { return LogBeliefs(in_doubles(beliefs.detach()).log()); }

LogBeliefs LogBeliefs::differentiable(const torch::Tensor& beliefs) {
  const auto shares = in_doubles(beliefs);
  const auto none = shares <= 0;
  return LogBeliefs(shares.masked_fill(none, 1).log().masked_fill(none, kLogOfZero));
}

LogBeliefs LogBeliefs::clamped(const torch::Tensor& known) const {
  const auto said = (known != kUnset).unsqueeze(2);
  const auto certain = torch::full_like(logs.detach(), kLogOfZero).scatter_(2, known.clamp_min(0).unsqueeze(2), 0.0);
  return LogBeliefs(torch::where(said, certain, logs));
}

torch::Tensor LogBeliefs::known_log_prob(const torch::Tensor& known) const {
  const auto of_each = logs.gather(2, known.clamp_min(0).unsqueeze(2)).squeeze(2);
  return of_each.masked_fill(known == kUnset, 0).sum(1);
}

torch::Tensor ExactInference::log_prob(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto wanted = checked(beliefs.logs, outputs, worlds_);
  return beliefs.size() == 0 ? beliefs.logs.sum({1, 2}) : find_log_prob(beliefs.logs, wanted);
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

torch::Tensor ExactInference::log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  return through_logs(beliefs, worlds_, [&](const LogBeliefs& logs) { return log_prob(logs, outputs); });
}

torch::Tensor ExactInference::log_prob_of_others(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto wanted = checked(beliefs.logs, outputs, worlds_);
  return beliefs.size() == 0 ? beliefs.logs.sum({1, 2}) : find_log_prob_of_others(beliefs.logs, wanted);
}

torch::Tensor ExactInference::find_log_prob_of_others(const torch::Tensor& logs, const torch::Tensor& outputs) const {
  std::vector<torch::Tensor> parts;
  auto asked = torch::full_like(outputs, kUnset);
  for (std::int64_t variable = 0; variable < outputs.size(1); ++variable) {
    const auto wanted = outputs.select(1, variable);
    // Where any value will do, none differs.
    asked.select(1, variable).copy_(torch::where(wanted == kUnset, wanted, other_than(0) - wanted));
    parts.push_back(find_log_prob(logs, asked.clone()).masked_fill(wanted == kUnset, kLogOfZero));
    asked.select(1, variable).copy_(wanted);
  }
  if (parts.size() == 1) return parts.front();
  const auto all = torch::stack(parts);
  const auto impossible = all.detach().isneginf().all(0);
  return torch::where(impossible, kLogOfZero, all.masked_fill(impossible.unsqueeze(0), 0).logsumexp(0));
}

MostProbable ExactInference::most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const torch::NoGradGuard no_gradients;
  const auto wanted = checked(beliefs.logs, outputs, worlds_);
  if (beliefs.size() == 0) {
    return {torch::zeros({0, worlds_.variables()}, torch::kInt64), torch::zeros({0}, torch::kFloat64)};
  }
  return find_most_probable(beliefs.logs, wanted);
}

MostProbable ExactInference::most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  auto found = most_probable(LogBeliefs::of(beliefs), outputs);
  return {found.worlds.to(beliefs.device()), found.log_prob.to(beliefs.device())};
}

Ranked ExactInference::most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  const auto wanted = checked(beliefs.logs, outputs, worlds_);
  if (beliefs.size() == 0) {
    return {torch::zeros({0, 0, worlds_.variables()}, torch::kInt64), torch::zeros({0, 0}, torch::kFloat64)};
  }
  auto ranked = rank_worlds(beliefs.logs.detach(), wanted, top);
  // Places that no world fills are left out, or open where another row has more.
  const auto filled = ranked.log_prob.isneginf().logical_not();
  const auto most = filled.sum(1).max().item<std::int64_t>();
  ranked.values.masked_fill_(filled.logical_not().unsqueeze(2), kUnset);
  return {ranked.values.slice(1, 0, most), ranked.log_prob.slice(1, 0, most)};
}

// Lawler 1972: once the best world is known, all others differ from it first at some variable. So what is left falls
// into as many parts as there are variables, and the best of each is found as the best of all was.
Ranked ExactInference::rank_worlds(const torch::Tensor& logs, const torch::Tensor& outputs, std::int64_t top) const {
  struct Part {
    double log_prob;
    torch::Tensor world, logs;  // the best world of the part, and the beliefs that are left in it
    std::int64_t first;         // variables before this one are decided
    bool operator<(const Part& other) const { return log_prob < other.log_prob; }
  };
  const auto batch = logs.size(0), variables = worlds_.variables();
  std::vector<std::priority_queue<Part>> open(as_size(batch));
  std::vector<torch::Tensor> asked_logs, asked_outputs;
  std::vector<std::pair<std::size_t, std::int64_t>> asked;  // of which row, and the first variable that is not decided
  const auto ask = [&] {
    if (asked.empty()) return;
    const auto all = torch::stack(asked_logs);
    const auto found = find_most_probable(all, torch::stack(asked_outputs));
    for (std::size_t place = 0; place < asked.size(); ++place) {
      const auto index = static_cast<std::int64_t>(place);
      const auto log_prob = found.log_prob[index].item<double>();
      if (log_prob == kLogOfZero) continue;
      open[asked[place].first].push({log_prob, found.worlds[index], asked_logs[place], asked[place].second});
    }
    asked.clear();
    asked_logs.clear();
    asked_outputs.clear();
  };
  for (std::int64_t row = 0; row < batch; ++row) {
    asked.emplace_back(as_size(row), 0);
    asked_logs.push_back(logs[row]);
    asked_outputs.push_back(outputs[row]);
  }
  ask();
  std::vector<torch::Tensor> ranked_worlds{torch::empty({batch, 0, variables}, torch::kInt64)};
  std::vector<torch::Tensor> ranked_log_probs{torch::empty({batch, 0}, torch::kFloat64)};
  for (std::int64_t found = 0; found < top; ++found) {
    bool any = false;
    const auto worlds = torch::full({batch, variables}, kUnset, torch::kInt64);
    const auto log_probs = torch::full({batch}, kLogOfZero, torch::kFloat64);
    for (std::int64_t row = 0; row < batch; ++row) {
      auto& parts = open[as_size(row)];
      if (parts.empty()) continue;
      any = true;
      const auto best = parts.top();
      parts.pop();
      worlds[row].copy_(best.world);
      log_probs[row] = best.log_prob;
      if (found + 1 == top) continue;
      auto decided = best.logs.clone();
      for (auto variable = best.first; variable < variables; ++variable) {
        const auto value = best.world[variable].item<std::int64_t>();
        auto without = decided.clone();
        without[variable][value] = kLogOfZero;
        if (without[variable].slice(0, 0, worlds_.domain(variable)).max().item<double>() > kLogOfZero) {
          asked.emplace_back(as_size(row), variable);
          asked_logs.push_back(without);
          asked_outputs.push_back(outputs[row]);
        }
        const auto share = decided[variable][value].item<double>();
        decided[variable].fill_(kLogOfZero);
        decided[variable][value] = share;
      }
    }
    if (!any) break;
    ranked_worlds.push_back(worlds.unsqueeze(1));
    ranked_log_probs.push_back(log_probs.unsqueeze(1));
    ask();
  }
  return {torch::cat(ranked_worlds, 1), torch::cat(ranked_log_probs, 1)};
}

Ranked ExactInference::explain(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  auto found = most_probable(beliefs, outputs, top);
  const auto total = log_prob(beliefs, outputs).unsqueeze(1);
  found.log_prob = (found.log_prob - total.masked_fill(total.isneginf(), 0)).clamp_max(0);
  return found;
}

Ranked ExactInference::most_probable_outputs(const LogBeliefs&, std::int64_t) const {
  throw UsageError("exact inference: outputs are ranked only where all worlds are listed");
}

torch::Tensor ExactInference::sample(const LogBeliefs& beliefs, const torch::Tensor& outputs,
                                     at::Generator generator) const {
  const torch::NoGradGuard no_gradients;
  const auto wanted = checked(beliefs.logs, outputs, worlds_);
  if (beliefs.size() == 0) return torch::zeros({0, worlds_.variables()}, torch::kInt64);
  return draw(beliefs.logs, wanted, std::move(generator));
}

torch::Tensor ExactInference::sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                     at::Generator generator) const {
  return sample(LogBeliefs::of(beliefs), outputs, std::move(generator)).to(beliefs.device());
}

torch::Tensor ExactInference::marginals(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  // Works in inference mode too, where tensors carry no gradients: copies made outside it do.
  const c10::InferenceMode off(false);
  const torch::AutoGradMode gradients(true);
  const auto variable = beliefs.logs.detach().clone().requires_grad_(true);
  const auto total = log_prob(LogBeliefs(variable), outputs.clone());
  const auto possible = total.detach().isneginf().logical_not();
  // Nothing leads to an impossible output, so its derivative is left out.
  const auto sum = torch::where(possible, total, 0.0).sum();
  return torch::autograd::grad({sum}, {variable})[0].detach().masked_fill(possible.logical_not().view({-1, 1, 1}), 0);
}

torch::Tensor ExactInference::marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  return marginals(LogBeliefs::of(beliefs), outputs).to(beliefs.device());
}

torch::Tensor ExactInference::entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const auto logs = LogBeliefs::differentiable(beliefs).logs;
  return find_entropy(logs, checked(logs, outputs, worlds_)).to(beliefs.device());
}

torch::Tensor ExactInference::find_entropy(const torch::Tensor&, const torch::Tensor&) const {
  throw UsageError("the entropy of worlds is known by circuits alone: choose exact inference by a circuit");
}

}  // namespace anesi

#include "anesi/check/model_check.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "anesi/core/known_variables.h"
#include "anesi/models/beam.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

constexpr std::int64_t kRowsAtOnce = 2048;

// Calls visit(begin, end) on pieces of [0, rows).
template <typename Visit>
void in_pieces(std::int64_t rows, Visit visit) {
  for (std::int64_t begin = 0; begin < rows; begin += kRowsAtOnce) visit(begin, std::min(begin + kRowsAtOnce, rows));
}

// Rows begin to end of the beliefs, each `times` over.
torch::Tensor repeated_rows(const torch::Tensor& beliefs, std::int64_t times, std::int64_t begin, std::int64_t end) {
  return beliefs.index_select(0, torch::arange(begin, end, torch::kInt64).div(times, "floor"));
}

// Beliefs in the type that a model computes in, where it has weights.
torch::Tensor as_computed(SequenceModel& model, const torch::Tensor& beliefs) {
  const auto weights = model.parameters();
  return weights.empty() ? beliefs : beliefs.to(weights.front().scalar_type());
}

}  // namespace

Distance sampled_distance(SequenceModel& prediction, const Problem& problem, const ExactInference& exact,
                          const torch::Tensor& beliefs, std::int64_t samples, const at::Generator& generator) {
  const torch::NoGradGuard no_gradients;
  const auto total_rows = beliefs.size(0) * samples;
  Distance distance;
  in_pieces(total_rows, [&](std::int64_t begin, std::int64_t end) {
    const auto rows = repeated_rows(beliefs, samples, begin, end);
    const auto outputs = apply(problem, sample_worlds(rows, generator));
    const auto log_ratio = prediction.log_prob(rows, outputs).to(torch::kFloat64) - exact.log_prob(rows, outputs);
    distance.total_variation += (1 - log_ratio.exp()).clamp_min(0).sum().item<double>();
    distance.divergence -= log_ratio.sum().item<double>();
  });
  const auto total = static_cast<double>(total_rows);
  return {distance.total_variation / total, distance.divergence / total};
}

torch::Tensor total_variations(SequenceModel& prediction, const Space& outputs, const ExactInference& exact,
                               const torch::Tensor& beliefs) {
  const torch::NoGradGuard no_gradients;
  const auto points = points_of(outputs);
  std::vector<torch::Tensor> distances;
  for (const auto& belief : beliefs.unbind(0)) {
    const auto rows = belief.unsqueeze(0).expand({points.size(0), -1, -1}).contiguous();
    const auto difference =
        prediction.log_prob(rows, points).to(torch::kFloat64).exp() - exact.log_prob(rows, points).exp();
    distances.push_back(0.5 * difference.abs().sum());
  }
  return torch::stack(distances);
}

Certificate certify(SequenceModel& prediction, const Problem& problem, const torch::Tensor& beliefs,
                    std::int64_t samples, const at::Generator& generator) {
  TORCH_CHECK(samples >= 2, "certify: an interval takes two samples or more");
  TORCH_CHECK(prediction.multilinear(), "certify: only a model that is multilinear in the beliefs has a certificate");
  const torch::NoGradGuard no_gradients;
  const auto total_rows = beliefs.size(0) * samples;
  std::vector<torch::Tensor> parts;
  in_pieces(total_rows, [&](std::int64_t begin, std::int64_t end) {
    const auto worlds = sample_worlds(repeated_rows(beliefs, samples, begin, end), generator);
    const auto log_q =
        prediction.log_prob(as_computed(prediction, certain_beliefs(worlds, problem.worlds())), apply(problem, worlds));
    parts.push_back(-log_q.to(torch::kFloat64).expm1());  // 1 - q(c(w)|w)
  });
  const auto errors = torch::cat(parts).view({beliefs.size(0), samples});
  constexpr double kNormalQuantile = 1.96;
  const auto spread = errors.std(1);
  Certificate certificate;
  certificate.bounds = errors.mean(1);
  certificate.margins = kNormalQuantile * spread / std::sqrt(static_cast<double>(samples));
  certificate.mean = certificate.bounds.mean().item<double>();
  certificate.margin = certificate.margins.square().sum().sqrt().item<double>() / static_cast<double>(beliefs.size(0));
  return certificate;
}

ExploitCheck check_exploits(SequenceModel& prediction, const Problem& problem, const torch::Tensor& worlds,
                            const std::function<std::string(std::int64_t)>& name) {
  constexpr std::int64_t kMostValuesInPairs = 16;
  const torch::NoGradGuard no_gradients;
  const auto& space = problem.worlds();
  const auto outputs = apply(problem, worlds);
  const auto loss = [&](const torch::Tensor& beliefs) {
    return -prediction.log_prob(as_computed(prediction, beliefs), outputs).mean().item<double>();
  };
  ExploitCheck check;
  check.truth = loss(certain_beliefs(worlds, space));
  check.cheapest_loss = std::numeric_limits<double>::infinity();
  const auto consider = [&](const std::string& what, const torch::Tensor& beliefs) {
    const auto cost = loss(beliefs);
    if (!(cost > check.truth)) check.cheaper.push_back(what);
    if (cost >= check.cheapest_loss) return;
    check.cheapest = what;
    check.cheapest_loss = cost;
  };
  const auto* const known = problem.facts().find<KnownVariables>();
  const auto consider_worlds = [&](const std::string& what, const torch::Tensor& all_renamed) {
    auto renamed = all_renamed;
    if (known != nullptr) {  // nobody takes them for anything else
      renamed = renamed.clone();
      for (const auto variable : known->variables) renamed.select(1, variable).copy_(worlds.select(1, variable));
    }
    // A renaming that c itself cannot tell from the truth is no fault of q: the labels do not say.
    if (!torch::equal(apply(problem, renamed), outputs)) consider(what, certain_beliefs(renamed, space));
  };
  const auto called = [&](std::int64_t value) { return name ? name(value) : std::to_string(value); };
  const auto domains = torch::tensor(space.domains());
  const auto perceived = perceived_space(problem);
  const auto values = perceived.largest_domain();
  consider("every value equally likely",
           known == nullptr
               ? uniform_beliefs(worlds.size(0), space)
               : complete_beliefs(*known, uniform_beliefs(worlds.size(0), perceived),
                                  worlds.index_select(1, torch::tensor(known->variables, torch::kInt64)), space));
  for (std::int64_t value = 0; value < values; ++value) {
    consider_worlds(fmt::format("every variable is {}", called(value)),
                    torch::full_like(worlds, value).minimum(domains - 1));
    if (value > 0) consider_worlds(fmt::format("values renamed by {}", value), (worlds + value).remainder(domains));
  }
  consider_worlds("values renamed backwards", domains - 1 - worlds);
  if (!perceived.all_domains_equal() || values > kMostValuesInPairs) return check;
  for (std::int64_t value = 0; value < values; ++value) {
    for (std::int64_t other = 0; other < values; ++other) {
      if (value == other) continue;
      const auto merged = worlds.masked_fill(worlds == value, other);
      consider_worlds(fmt::format("{} taken for {}", called(value), called(other)), merged);
      if (value < other) {
        consider_worlds(fmt::format("{} and {} swapped", called(value), called(other)),
                        merged.masked_fill(worlds == other, value));
      }
    }
  }
  return check;
}

double mpe_agreement(SequenceModel& explanation, const ExactInference& exact, const Context& context, std::int64_t beam,
                     const Pruning* pruning) {
  const torch::NoGradGuard no_gradients;
  const auto best = exact.most_probable(context.beliefs, context.outputs);
  const auto own = explanation.most_probable(context);
  const auto found = own ? own->worlds : explain(explanation, context, beam, pruning).values.select(1, 0).contiguous();
  const auto as_probable =
      world_log_prob(context.beliefs, found).to(torch::kFloat64) >= best.log_prob.to(context.beliefs.device()) - 1e-4;
  // As probable is not enough: it must give the output, too.
  const auto certain = torch::zeros_like(context.beliefs).scatter_(2, found.unsqueeze(2), 1.0);
  const auto gives = exact.log_prob(certain, context.outputs) == 0;
  return as_probable.logical_and(gives).to(torch::kFloat64).mean().item<double>();
}

}  // namespace anesi

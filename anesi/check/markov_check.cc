#include "anesi/check/markov_check.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// Uniform probabilities, double [rows, worlds, 2].
torch::Tensor uniform_probabilities(std::int64_t rows, const Space& worlds, const at::Generator& generator) {
  const auto one = torch::rand({rows, worlds.variables()}, generator, torch::kFloat64);
  return torch::stack({1 - one, one}, 2);
}

double log_partition_of_all_worlds(const MarkovInference& logic, const torch::Tensor& belief,
                                   const torch::Tensor& weights) {
  const auto worlds = points_of(logic.worlds());
  const auto log_p = world_log_prob(belief.expand({worlds.size(0), -1, -1}), worlds);
  const auto broken = logic.keeps(worlds).logical_not();
  return (log_p + logic.holds(worlds).mv(weights)).masked_fill(broken, -INFINITY).logsumexp(0).item<double>();
}

}  // namespace

SoftCountCheck check_soft_counts(const std::shared_ptr<GraphNetwork>& network, const DrawSoftFormula& draw,
                                 std::int64_t formulas, std::int64_t samples, std::uint64_t seed) {
  const torch::NoGradGuard no_gradients;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  const auto share = 1 / static_cast<double>(formulas);
  SoftCountCheck found{.formulas = formulas, .samples = samples};
  for (std::int64_t formula = 0; formula < formulas; ++formula) {
    const auto [logic, weights] = draw(random);
    const auto belief = uniform_probabilities(1, logic->worlds(), generator);
    const auto truth = log_partition_of_all_worlds(*logic, belief, weights);
    const auto error_of = [&](const torch::Tensor& log) { return std::abs(log.item<double>() - truth); };
    const auto predicted = error_of(predicted_log_partition(*logic, network, belief.to(torch::kFloat32), weights));
    const auto estimate = estimate_log_partition(*logic, network, belief, weights, samples, generator);
    const auto sampled = error_of(estimate.log_prob);
    found.predicted_mean += share * predicted;
    found.predicted_most = std::max(found.predicted_most, predicted);
    found.sampled_mean += share * sampled;
    found.sampled_most = std::max(found.sampled_most, sampled);
    found.effective += share * estimate.effective.item<double>() / static_cast<double>(samples);
    if (logic->circuit() == nullptr) continue;
    ++found.compiled;
    found.circuit_most = std::max(found.circuit_most, error_of(logic->circuit()->log_partition(belief, weights)));
  }
  return found;
}

RecoveryCheck check_recovery(const DrawSoftFormula& draw, std::int64_t formulas, std::int64_t worlds, bool with_beliefs,
                             const FitOptions& options, std::uint64_t seed,
                             const std::shared_ptr<GraphNetwork>& network) {
  const torch::NoGradGuard no_gradients;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  RecoveryCheck found;
  while (found.formulas < formulas) {
    const auto [logic, weights] = draw(random);
    const auto beliefs = with_beliefs ? uniform_probabilities(worlds, logic->worlds(), generator)
                                      : uniform_beliefs(worlds, logic->worlds()).to(torch::kFloat64);
    const auto seen = logic->exact().sample(beliefs, weights, generator);
    FittedWeights fitted;
    try {
      fitted = fit_weights(*logic, seen, with_beliefs ? beliefs : torch::Tensor(), options, seed, network);
    } catch (const UsageError&) {
      ++found.open;
      continue;
    }
    const auto errors = (fitted.weights - weights) / fitted.errors;
    ++found.formulas;
    found.weights += logic->clauses();
    found.within_two += (errors.abs() <= 2).sum().item<double>();
    found.most_errors = std::max(found.most_errors, errors.abs().max().item<double>());
    found.mean_squared += errors.square().sum().item<double>();
  }
  found.within_two /= static_cast<double>(found.weights);
  found.mean_squared /= static_cast<double>(found.weights);
  return found;
}

}  // namespace anesi

#include "anesi/train/fit_weights.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/interrupt.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kConverged = 1e-10, kNearlyConverged = 1e-2;  // of a step, in standard errors squared
constexpr double kShortestStep = 1e-6;                         // as a share of Newton's
constexpr double kLeastInformation = 1e-9;                     // an example; less is none
constexpr double kStepOfDifferences = 1e-2;                    // of weights, where q's second derivative is taken
constexpr std::int64_t kRowsAtOnce = 512;
constexpr int kRoundsOfDrawing = 4;  // of drawing

// Of the mean of log Z(P) over examples.
struct Partition {
  double log = 0;
  torch::Tensor gradient, information;  // double [clauses], [clauses, clauses]
};
using PartitionAt = std::function<Partition(const torch::Tensor& weights, bool with_derivatives)>;

template <typename OfRows>
void for_rows(const torch::Tensor& beliefs, OfRows of_rows) {
  for (const auto& some : beliefs.split(kRowsAtOnce)) {
    check_interrupt();
    of_rows(some, static_cast<double>(some.size(0)) / static_cast<double>(beliefs.size(0)));
  }
}

PartitionAt by_circuit(const SoftCircuitOfTensors& circuit, const torch::Tensor& beliefs) {
  return [&circuit, beliefs](const torch::Tensor& weights, bool with_derivatives) {
    Partition result{0, torch::zeros_like(weights), torch::zeros({weights.size(0), weights.size(0)}, torch::kFloat64)};
    for_rows(beliefs, [&](const torch::Tensor& some, double share) {
      result.log += share * circuit.log_partition(some, weights).mean().item<double>();
      if (!with_derivatives) return;
      result.gradient += share * circuit.expected(some, weights).mean(0);
      result.information += share * circuit.covariance(some, weights).mean(0);
    });
    return result;
  };
}

// Of worlds that were drawn with other weights; exact as their number grows.
PartitionAt by_draws(const MarkovInference& logic, const torch::Tensor& beliefs, const DrawnWorlds& drawn) {
  const auto holds = logic.holds(drawn.worlds);  // [found, clauses]
  const auto log_p = world_log_prob(beliefs.index_select(0, drawn.row), drawn.worlds);
  const auto log_ratio = log_p - drawn.log_q + drawn.often.log() - std::log(static_cast<double>(drawn.samples));
  return [=](const torch::Tensor& weights, bool with_derivatives) {
    const auto rows = static_cast<double>(beliefs.size(0));
    const auto logs = log_ratio + holds.mv(weights);
    const auto largest =
        torch::full({beliefs.size(0)}, -INFINITY, torch::kFloat64).scatter_reduce(0, drawn.row, logs, "amax");
    if (largest.isneginf().any().item<bool>()) throw Error("fit: no world was drawn of some belief; take more samples");
    const auto terms = (logs - largest.index_select(0, drawn.row)).exp();
    const auto sums = torch::zeros_like(largest).index_add(0, drawn.row, terms);
    Partition result{(sums.log() + largest).mean().item<double>(), {}, {}};
    if (!with_derivatives) return result;
    const auto share = (terms / sums.index_select(0, drawn.row)).unsqueeze(1);  // of each world in its row
    const auto means =
        torch::zeros({beliefs.size(0), weights.size(0)}, torch::kFloat64).index_add(0, drawn.row, share * holds);
    result.gradient = means.mean(0);
    result.information = holds.t().mm(share * holds) / rows - means.t().mm(means) / rows;
    return result;
  };
}

PartitionAt by_prediction(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                          const torch::Tensor& beliefs) {
  const auto gradient_at = [=, &logic](const torch::Tensor& at, double& log) {
    auto weights = at.detach().requires_grad_(true);
    log = 0;
    auto gradient = torch::zeros_like(at);
    for_rows(beliefs, [&](const torch::Tensor& some, double share) {
      const auto mean = predicted_log_partition(logic, network, some.to(torch::kFloat32), weights).mean();
      log += share * mean.item<double>();
      gradient += share * torch::autograd::grad({mean}, {weights})[0];
    });
    return gradient;
  };
  return [=](const torch::Tensor& weights, bool with_derivatives) {
    const torch::AutoGradMode gradients(true);
    Partition result;
    result.gradient = gradient_at(weights, result.log);
    if (!with_derivatives) return result;
    std::vector<torch::Tensor> columns;
    for (std::int64_t clause = 0; clause < weights.size(0); ++clause) {
      auto up = weights.clone(), down = weights.clone();
      up[clause] += kStepOfDifferences;
      down[clause] -= kStepOfDifferences;
      double unused = 0;
      columns.push_back((gradient_at(up, unused) - gradient_at(down, unused)) / (2 * kStepOfDifferences));
    }
    const auto second = torch::stack(columns);
    result.information = (second + second.t()) / 2;
    return result;
  };
}

// Which weight each clause has: [clauses, weights], ones and zeros.
torch::Tensor ties_of(const MarkovInference& logic, bool tied) {
  if (!tied) return torch::eye(logic.clauses(), torch::kFloat64);
  std::map<double, std::int64_t> of_weight;
  std::vector<std::int64_t> places;
  for (const auto& clause : logic.formula().soft) {
    places.push_back(of_weight.try_emplace(clause.weight, static_cast<std::int64_t>(of_weight.size())).first->second);
  }
  return torch::one_hot(torch::tensor(places, torch::kInt64), static_cast<std::int64_t>(of_weight.size()))
      .to(torch::kFloat64);
}

void check_data(const MarkovInference& logic, const torch::Tensor& worlds, const torch::Tensor& beliefs) {
  if (worlds.dim() != 2 || worlds.size(0) == 0 || worlds.size(1) != logic.worlds().variables()) {
    throw UsageError(fmt::format("fit: worlds of {} variables are expected, at least one", logic.worlds().variables()));
  }
  if (beliefs.defined() && beliefs.size(0) != worlds.size(0)) {
    throw UsageError(fmt::format("fit: {} beliefs for {} worlds", beliefs.size(0), worlds.size(0)));
  }
  if (beliefs.defined()) check_beliefs(beliefs, logic.worlds());
  const auto refuse = [](const torch::Tensor& bad, const char* why) {
    const auto rows = bad.nonzero();
    if (rows.size(0) > 0) throw UsageError(fmt::format("fit: world {} {}", rows[0][0].item<std::int64_t>() + 1, why));
  };
  refuse(logic.keeps(worlds).logical_not(), "breaks the hard clauses");
  if (beliefs.defined()) refuse(world_log_prob(beliefs, worlds).isneginf(), "is impossible by its belief");
}

// What is fitted: a weight for each clause or for several in common, to what was seen.
struct Likelihood {
  torch::Tensor ties;    // [clauses, weights], ones and zeros
  torch::Tensor seen;    // [weights]: how many of its clauses hold in an example, in the mean
  double number;         // of examples
  double precision = 0;  // of the prior, an example's

  torch::Tensor of_clauses(const torch::Tensor& weights) const { return ties.mv(weights); }
  double prior(const torch::Tensor& weights) const { return precision / 2 * weights.square().sum().item<double>(); }
  double at(const torch::Tensor& weights, const Partition& partition) const {
    return seen.dot(weights).item<double>() - partition.log - prior(weights);
  }
  std::int64_t first_clause(std::int64_t weight) const { return ties.select(1, weight).argmax().item<std::int64_t>(); }
};

struct Maximum {
  torch::Tensor weights, information;  // of the weights, an example's
  double value = 0;
  std::int64_t steps = 0;
  bool converged = false;
};

void check_finite(const Likelihood& likelihood) {
  const auto most = likelihood.ties.sum(0);
  for (std::int64_t weight = 0; weight < likelihood.seen.size(0); ++weight) {
    const auto seen = likelihood.seen[weight].item<double>();
    if (seen > 0 && seen < most[weight].item<double>()) continue;
    throw UsageError(
        fmt::format("fit: soft clause {} holds in {} world of the data, so that no finite weight is the most likely; "
                    "leave it out, or give a prior (deviation)",
                    likelihood.first_clause(weight) + 1, seen > 0 ? "every" : "no"));
  }
}

// Throws where the data leave some weight open.
void check_information(const torch::Tensor& information, const Likelihood& likelihood) {
  const auto [values, vectors] = torch::linalg_eigh(information);
  if (values[0].item<double>() > kLeastInformation) return;
  const auto weight = vectors.select(1, 0).abs().argmax().item<std::int64_t>();
  throw UsageError(
      fmt::format("fit: the data leave the weight of soft clause {} open: whether it holds follows from other clauses; "
                  "leave it out, or give a prior (deviation)",
                  likelihood.first_clause(weight) + 1));
}

// Newton's method.
Maximum maximum_of(const Likelihood& likelihood, const PartitionAt& partition_at, torch::Tensor weights,
                   std::int64_t steps) {
  Maximum found{.weights = std::move(weights), .information = {}};
  while (true) {
    check_interrupt();
    const auto partition = partition_at(likelihood.of_clauses(found.weights), /*with_derivatives=*/true);
    const auto& ties = likelihood.ties;
    found.value = likelihood.at(found.weights, partition);
    found.information =
        ties.t().mm(partition.information).mm(ties) + likelihood.precision * torch::eye(ties.size(1), torch::kFloat64);
    check_information(found.information, likelihood);
    const auto gradient = likelihood.seen - ties.t().mv(partition.gradient) - likelihood.precision * found.weights;
    const auto step = torch::linalg_solve(found.information, gradient, /*left=*/true);
    const auto gain = likelihood.number * step.dot(gradient).item<double>();  // squared, in standard errors
    found.converged = gain < kConverged;
    if (found.converged || found.steps == steps) return found;
    const auto is_better = [&](double length) {
      const auto next = found.weights + length * step;
      const auto there = partition_at(likelihood.of_clauses(next), /*with_derivatives=*/false);
      return likelihood.at(next, there) > found.value;
    };
    double length = 1;
    while (length > kShortestStep && !is_better(length)) length /= 2;
    if (length <= kShortestStep) {  // as good as rounding allows
      found.converged = gain < kNearlyConverged;
      return found;
    }
    found.weights = found.weights + length * step;
    ++found.steps;
  }
}

// How much the variance grows because Z is known from draws alone.
double inflation_of(const MarkovInference& logic, const torch::Tensor& beliefs, const DrawnWorlds& drawn,
                    const torch::Tensor& weights, double examples) {
  const auto log_p = world_log_prob(beliefs.index_select(0, drawn.row), drawn.worlds);
  const auto scale = MarkovInference::log_scale(weights);
  const auto estimate = estimate_log_sum(drawn, log_p + logic.holds(drawn.worlds).mv(weights) - scale);
  return 1 + examples / static_cast<double>(beliefs.size(0)) * estimate.effective.reciprocal().mean().item<double>();
}

}  // namespace

FittedWeights fit_weights(const MarkovInference& logic, const torch::Tensor& worlds, const torch::Tensor& beliefs,
                          const FitOptions& options, std::uint64_t seed, const std::shared_ptr<GraphNetwork>& network) {
  const torch::NoGradGuard no_gradients;
  check_data(logic, worlds, beliefs);
  if (options.by != PartitionBy::kCircuit && !network) throw UsageError("fit: by sampling or q needs a network");
  const auto number = static_cast<double>(worlds.size(0));
  const auto holds = logic.holds(worlds);
  // Without beliefs all worlds share one.
  const auto asked = (beliefs.defined() ? beliefs : uniform_beliefs(1, logic.worlds())).to(torch::kFloat64);
  const auto ties = ties_of(logic, options.tied);
  const Likelihood likelihood{
      .ties = ties,
      .seen = ties.t().mv(holds.mean(0)),
      .number = number,
      .precision = options.deviation > 0 ? 1 / (number * options.deviation * options.deviation) : 0};
  if (options.deviation == 0) check_finite(likelihood);

  Maximum found{.weights = torch::zeros({ties.size(1)}, torch::kFloat64), .information = {}};
  double inflation = 1;
  if (options.by == PartitionBy::kSampling) {
    // Draws of weights that are nearly right say most; the last ones decide.
    const auto generator = seeded(seed);
    std::int64_t steps = 0;
    for (int round = 0; round < kRoundsOfDrawing; ++round) {
      const auto at = likelihood.of_clauses(found.weights);
      const auto drawn = draw_soft_worlds(logic, network, asked, at, options.samples, generator);
      found = maximum_of(likelihood, by_draws(logic, asked, drawn), found.weights, options.steps);
      steps += found.steps;
      inflation = inflation_of(logic, asked, drawn, likelihood.of_clauses(found.weights), number);
    }
    found.steps = steps;
  } else {
    const auto partition_at =
        options.by == PartitionBy::kCircuit ? by_circuit(logic.exact(), asked) : by_prediction(logic, network, asked);
    found = maximum_of(likelihood, partition_at, found.weights, options.steps);
  }
  const auto log_beliefs = world_log_prob(asked.expand({worlds.size(0), -1, -1}), worlds).mean().item<double>();
  const auto variance = torch::linalg_inv(found.information).diagonal() / number;
  return {.weights = likelihood.of_clauses(found.weights),
          .errors = likelihood.of_clauses((inflation * variance).sqrt()),
          .seen = holds.mean(0),
          .log_likelihood = found.value + likelihood.prior(found.weights) + log_beliefs,
          .steps = found.steps,
          .converged = found.converged};
}

}  // namespace anesi

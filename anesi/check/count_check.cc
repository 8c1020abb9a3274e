#include "anesi/check/count_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "anesi/core/index.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/formula_graph.h"
#include "anesi/models/inference_model.h"
#include "anesi/predict/count.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// log p(y=1|P) of a belief, by going through all worlds but those that begin in a way that violates a clause.
class AllWorlds {
 public:
  AllWorlds(const Cnf& cnf, const torch::Tensor& belief) : ends_(as_size(belief.size(0))) {
    for (std::int64_t variable = 0; variable < belief.size(0); ++variable) {
      beliefs_.push_back({belief[variable][0].item<double>(), belief[variable][1].item<double>()});
    }
    for (const auto& clause : cnf.clauses()) {
      int last = 0;
      for (const auto literal : clause) last = std::max(last, std::abs(literal));
      ends_[as_size(last - 1)].push_back(clause);
    }
    world_.resize(ends_.size());
  }

  double log_count() { return std::log(count_from(0)); }

 private:
  // Of the worlds that begin as world_ does, up to `place`.
  double count_from(std::size_t place) {
    if (place == world_.size()) return 1;
    double count = 0;
    for (const std::size_t value : {0, 1}) {
      world_[place] = value == 1;
      const auto is_true = [&](int literal) { return world_[as_size(std::abs(literal) - 1)] == (literal > 0); };
      const auto holds = [&](const auto& clause) { return std::ranges::any_of(clause, is_true); };
      if (std::ranges::all_of(ends_[place], holds)) count += beliefs_[place][value] * count_from(place + 1);
    }
    return count;
  }

  std::vector<std::array<double, 2>> beliefs_;
  std::vector<std::vector<std::vector<int>>> ends_;  // clauses, by the last of their variables
  std::vector<bool> world_;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// What 95 % of the values stay below.
double most_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) * 95 / 100];
}

}  // namespace

CountCheck check_counts(const std::shared_ptr<GraphNetwork>& network, const DrawFormula& draw, std::int64_t formulas,
                        std::int64_t samples, std::uint64_t seed) {
  const torch::NoGradGuard no_gradients;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  std::vector<double> predicted, sampled, within, effective, covered, satisfied;
  for (std::int64_t formula = 0; formula < formulas; ++formula) {
    const auto cnf = draw(random);
    const auto problem = formula_problem(cnf, /*seconds=*/0);
    const auto one = torch::rand({problem->worlds().variables()}, generator);
    const auto belief = torch::stack({1 - one, one}, 1);
    const auto truth = AllWorlds(cnf, belief).log_count();
    const auto q = graph_models(factor_graph_of(cnf, problem->worlds()), network, /*explain=*/true);
    const Context context(belief.unsqueeze(0), torch::ones({1, 1}, torch::kInt64));
    const auto log_q = q.prediction->log_prob(context.beliefs, context.outputs).item<double>();
    predicted.push_back(std::abs(log_q - truth));
    const SymbolicPruning pruning(problem->facts().share<Pruner>(), DeadEnds::kOfferNothing);
    const auto estimate = estimate_log_prob(*q.explanation, *problem, context, samples, generator, &pruning);
    const auto error = std::abs(estimate.log_prob.item<double>() - truth);
    sampled.push_back(error);
    within.push_back(error <= kCloseCount ? 1 : 0);
    effective.push_back(estimate.effective.item<double>() / static_cast<double>(samples));
    covered.push_back(estimate.low.item<double>() <= truth && truth <= estimate.high.item<double>() ? 1 : 0);
    satisfied.push_back(1 - estimate.lost.item<double>());
  }
  return {.formulas = formulas,
          .samples = samples,
          .predicted_mean = mean_of(predicted),
          .predicted_95 = most_of(predicted),
          .sampled_mean = mean_of(sampled),
          .sampled_95 = most_of(sampled),
          .within = mean_of(within),
          .effective = mean_of(effective),
          .covered = mean_of(covered),
          .satisfied = mean_of(satisfied)};
}

}  // namespace anesi

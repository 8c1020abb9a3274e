#include "anesi/check/order_check.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "anesi/formula/formula.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/architecture.h"
#include "anesi/models/sample.h"
#include "anesi/models/set_model.h"
#include "anesi/optimize/schedule.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// What is asked of one formula's explanation model, by going through the worlds that satisfy it.
class Solved {
 public:
  Solved(const Problem& problem, torch::Tensor beliefs) : problem_(problem), beliefs_(std::move(beliefs)) {
    const auto worlds = points_of(problem.worlds());
    worlds_ = worlds.index_select(0, apply(problem, worlds).select(1, 0).nonzero().squeeze(1));
  }

  using LogProb = std::function<torch::Tensor(const Context& context, const torch::Tensor& worlds)>;
  double divergence(const LogProb& log_prob) const {
    double total = 0;
    for (const auto& belief : beliefs_.unbind(0)) {
      const auto rows = belief.unsqueeze(0).expand({worlds_.size(0), -1, -1});
      const auto log_p = world_log_prob(rows.to(torch::kFloat64), worlds_).log_softmax(0);
      total += (log_p.exp() * (log_p - log_prob(explained(rows), worlds_))).sum().item<double>();
    }
    return total / static_cast<double>(beliefs_.size(0));
  }

  double satisfied(SequenceModel& model, std::int64_t draws, const at::Generator& generator) const {
    const auto rows = beliefs_.repeat_interleave(draws, 0);
    return apply(problem_, sample(model, explained(rows), generator).values).to(torch::kFloat64).mean().item<double>();
  }

 private:
  static Context explained(const torch::Tensor& rows) { return {rows, torch::ones({rows.size(0), 1}, torch::kInt64)}; }

  const Problem& problem_;
  torch::Tensor beliefs_, worlds_;
};

// Some that every architecture gets alike.
Cnf satisfiable_formula(const OrderCheckOptions& options, std::mt19937_64& random) {
  while (true) {
    auto cnf = random_formula(options.variables, options.clauses, options.literals, random);
    if (is_satisfiable(cnf)) return cnf;
  }
}

}  // namespace

OrderCheck check_orders(const std::string& architecture, const std::vector<std::string>& settings,
                        const OrderCheckOptions& options, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  OrderCheck found;
  for (std::int64_t formula = 0; formula < options.formulas; ++formula) {
    const auto problem = formula_problem(satisfiable_formula(options, random));
    const SeededWeights weights(seed);
    const auto q = make_model(*problem, architecture, /*explain=*/true, settings);
    AmortizedLoss loss(problem, q, std::make_unique<FixedDirichlet>(problem->worlds(), 1), options.q, seeded(seed));
    const Schedule schedule{.lr = options.learning_rate, .shape = Shape::kCosine};
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t step = 0; step < options.steps; ++step) loss.update(schedule.at(step, options.steps));
    found.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const torch::NoGradGuard no_gradients;
    const auto generator = seeded(seed + 1);
    FixedDirichlet prior(problem->worlds(), 1);
    const Solved solved(*problem, prior.sample(options.beliefs, generator));
    found.divergences.push_back(solved.divergence(
        [&](const Context& context, const torch::Tensor& worlds) { return q.explanation->log_prob(context, worlds); }));
    found.divergence += found.divergences.back();
    found.satisfied += solved.satisfied(*q.explanation, options.draws, generator);
    auto* const any = dynamic_cast<SetModel*>(q.explanation.get());
    if (any == nullptr) found.any_order = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t order = 0; any != nullptr && order < options.orders; ++order) {
      const auto drawn = torch::randperm(problem->worlds().variables(), generator, torch::kInt64).unsqueeze(0);
      found.any_order += solved.divergence([&](const Context& context, const torch::Tensor& worlds) {
        return any->log_prob_in(context, worlds, drawn);
      }) / static_cast<double>(options.orders);
    }
  }
  for (auto* sum : {&found.divergence, &found.any_order, &found.satisfied, &found.seconds}) {
    *sum /= static_cast<double>(options.formulas);
  }
  return found;
}

}  // namespace anesi

#include "anesi/formula/markov_logic.h"

#include <algorithm>
#include <cstdlib>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/formula_graph.h"

namespace anesi {

MarkovLogic::MarkovLogic(Wcnf formula, double seconds) : formula_(std::move(formula)) {
  if (formula_.soft.empty())
    throw UsageError("markov logic: no soft clause; a formula of hard clauses is a constraint");
  hard_ = formula_problem(formula_.hard, {.seconds = seconds, .defined = true});
  const auto& cnf = *hard_->facts().find<Cnf>();
  if (formula_.hard.has_show) solvers_.emplace(cnf.clauses());
}

FactorGraph MarkovLogic::graph() const { return factor_graph_of(*hard_->facts().find<Cnf>(), worlds(), formula_.soft); }

std::vector<bool> MarkovLogic::model_of(Values world) const {
  const auto& cnf = *hard_->facts().find<Cnf>();
  std::vector<int> literals;
  for (std::size_t variable = 0; variable < world.size(); ++variable) {
    literals.push_back(cnf.world(static_cast<std::int64_t>(variable), world[variable]));
  }
  if (solvers_) {
    auto model = solvers_->model(literals, cnf.variables());
    if (!model.empty()) return model;
  }
  std::vector<bool> model(as_size(cnf.variables()) + 1, false);
  for (const auto literal : literals) model[as_size(std::abs(literal))] = literal > 0;
  return model;
}

Matrix<double> MarkovLogic::holds(PointRows worlds) const {
  Matrix<double> result(worlds.size(), clauses());
  parallel_for(worlds.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const auto model = model_of(worlds[row]);
      const auto is_true = [&](int literal) { return model[as_size(std::abs(literal))] == (literal > 0); };
      for (std::size_t clause = 0; clause < formula_.soft.size(); ++clause) {
        result[row][clause] = std::ranges::any_of(formula_.soft[clause].literals, is_true) ? 1 : 0;
      }
    }
  });
  return result;
}

}  // namespace anesi

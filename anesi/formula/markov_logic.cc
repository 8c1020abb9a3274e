#include "anesi/formula/markov_logic.h"

#include <algorithm>
#include <cstdlib>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/models/formula_graph.h"
#include "anesi/formula/formula.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {

MarkovLogic::MarkovLogic(Wcnf formula, double seconds) : formula_(std::move(formula)) {
  if (formula_.soft.empty())
    throw UsageError("markov logic: no soft clause; a formula of hard clauses is a constraint");
  hard_ = formula_problem(formula_.hard, {.seconds = seconds, .defined = true});
  const auto& cnf = *hard_->facts().find<Cnf>();
  if (formula_.hard.has_show) solvers_.emplace(cnf.clauses());
  paths_ = std::make_shared<const MessagePaths>(factor_graph_of(cnf, worlds(), formula_.soft));
  if (seconds <= 0) return;
  try {
    circuit_.emplace(cnf, formula_.soft, seconds);
  } catch (const Error&) {
    // It does not compile in time; there is q.
  }
}

torch::Tensor MarkovLogic::weights() const {
  std::vector<double> weights;
  for (const auto& clause : formula_.soft) weights.push_back(clause.weight);
  return torch::tensor(weights, torch::kFloat64);
}

const SoftCircuit& MarkovLogic::exact() const {
  if (!circuit_) throw Error("markov logic: the formula did not compile, so nothing of it is known exactly");
  return *circuit_;
}

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

torch::Tensor MarkovLogic::holds(const torch::Tensor& worlds) const {
  const auto rows = worlds.to(torch::kCPU, torch::kInt64).contiguous();
  auto result = torch::zeros({rows.size(0), clauses()}, torch::kFloat64);
  parallel_for(rows.size(0), 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const auto model = model_of(row_of(rows, row));
      const auto is_true = [&](int literal) { return model[as_size(std::abs(literal))] == (literal > 0); };
      auto* const out = result.mutable_data_ptr<double>() + row * clauses();
      for (std::size_t clause = 0; clause < formula_.soft.size(); ++clause) {
        out[clause] = std::ranges::any_of(formula_.soft[clause].literals, is_true) ? 1 : 0;
      }
    }
  });
  return result;
}

torch::Tensor MarkovLogic::keeps(const torch::Tensor& worlds) const {
  return apply(*hard_, worlds.to(torch::kCPU, torch::kInt64).contiguous()).select(1, 0) == 1;
}

Graph MarkovLogic::q(const std::shared_ptr<GraphNetwork>& network, bool explains, const torch::Tensor& weights) const {
  return Graph(paths_, network, explains, weights);
}

}  // namespace anesi

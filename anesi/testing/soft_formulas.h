// Weighted formulas for tests, and all their worlds one after another.
#pragma once

#include <memory>
#include <random>

#include "anesi/logic/random_formula.h"
#include "anesi/models/markov_inference.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"

namespace anesi::toys {

// Three hard clauses that make the last three variables a group, one more, and some soft ones of one to three literals.
inline std::shared_ptr<const MarkovInference> random_markov_logic(std::mt19937_64& random, int variables = 6,
                                                                  int clauses = 7) {
  Wcnf formula;
  const auto a = variables - 2, b = variables - 1, c = variables;
  formula.hard.variables = variables;
  formula.hard.clauses = {{a, b, c}, {-a, -b}, {-a, -c}, {-b, -c}, {1, 2, -a}};
  for (int clause = 0; clause < clauses; ++clause) {
    const auto weight = static_cast<double>(random() % 4000) / 1000 - 2;
    formula.soft.push_back({random_formula(variables, 1, 1 + clause % 3, random).clauses()[0], weight});
  }
  return std::make_shared<const MarkovInference>(std::move(formula));
}

// p(w|P) of all worlds of each belief.
struct AllWeighted {
  AllWeighted(const MarkovInference& logic, const torch::Tensor& beliefs, const torch::Tensor& weights)
      : worlds(points_of(logic.worlds())), holds(logic.holds(worlds)) {
    std::vector<torch::Tensor> rows;
    const auto broken = logic.keeps(worlds).logical_not();
    for (const auto& belief : beliefs.to(torch::kFloat64).unbind()) {
      rows.push_back((world_log_prob(belief.expand({worlds.size(0), -1, -1}), worlds) + holds.mv(weights))
                         .masked_fill(broken, -INFINITY));
    }
    logs = torch::stack(rows);
    log_partition = logs.logsumexp(1);
    probability = (logs - log_partition.unsqueeze(1)).exp();
  }

  torch::Tensor worlds;         // int64 [worlds, variables]
  torch::Tensor holds;          // double [worlds, clauses]
  torch::Tensor logs;           // [rows, worlds], not normalised
  torch::Tensor log_partition;  // [rows]
  torch::Tensor probability;    // [rows, worlds]
};

// Double [rows, worlds, domain].
inline torch::Tensor random_beliefs(std::int64_t rows, const Space& worlds, at::Generator generator) {
  auto beliefs =
      0.05 + torch::rand({rows, worlds.variables(), worlds.largest_domain()}, std::move(generator), torch::kFloat64);
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    beliefs.select(1, variable).slice(1, worlds.domain(variable)).zero_();
  }
  return beliefs / beliefs.sum(2, /*keepdim=*/true);
}

}  // namespace anesi::toys

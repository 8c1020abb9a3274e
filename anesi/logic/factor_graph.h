// A constraint as clauses between variables: what messages are passed along.
//
// A clause is violated where each variable it looks at has one of the values that it names for it; a world satisfies
// the constraint where no clause is violated. That covers clauses over variables of any domain: where a literal says
// "variable 3 has value 7", all other values of variable 3 make it false.
//
// A soft clause need not hold: worlds in which it does are exp(weight) times as likely for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

struct FactorGraph {
  struct Edge {
    std::int64_t variable;
    std::vector<std::int64_t> falsifying;  // values of it that do not satisfy the clause: some, but not all
  };
  using Clause = std::vector<Edge>;  // of different variables, at least one

  Space worlds;
  std::int64_t own_variables = 0;  // of the formula itself, numbered after the worlds'; of two values each
  std::vector<Clause> clauses;
  // Clauses that need not hold: which of the weights is each clause's own, or kMustHold. Empty where all must.
  static constexpr std::int64_t kMustHold = -1;
  std::vector<std::int64_t> weight_of = {};
  std::int64_t weights = 0;
};

// Whether no variable of a clause, of a graph without variables of its own, has a value that satisfies it.
inline bool is_violated(const FactorGraph::Clause& clause, Values world) {
  return std::ranges::all_of(clause, [&](const FactorGraph::Edge& edge) {
    return std::ranges::find(edge.falsifying, world[static_cast<std::size_t>(edge.variable)]) != edge.falsifying.end();
  });
}
// Whether a world violates some clause that must hold.
inline bool is_violated(const FactorGraph& graph, Values world) {
  for (std::size_t place = 0; place < graph.clauses.size(); ++place) {
    const bool hard = graph.weight_of.empty() || graph.weight_of[place] == FactorGraph::kMustHold;
    if (hard && is_violated(graph.clauses[place], world)) return true;
  }
  return false;
}

}  // namespace anesi

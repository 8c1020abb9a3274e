// Loops of a factor graph, and which variables break them.
//
// Belief propagation is exact without loops. Once the value of a variable is known, no loop goes through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "anesi/logic/factor_graph.h"

namespace anesi {

// Whether each clause is connected with a loop, when these variables are known (empty: none is).
std::vector<bool> clauses_in_loops(const FactorGraph& graph, const std::vector<bool>& known = {});

// World variables in the order in which it pays to know them: first those that break loops, each the one in the most
// and shortest clauses that are still in loops once those before it are known; then the others.
struct SplittingOrder {
  std::vector<std::int64_t> variables;
  std::ptrdiff_t breaking = 0;  // how many of them break loops
};
SplittingOrder splitting_order(const FactorGraph& graph);

}  // namespace anesi

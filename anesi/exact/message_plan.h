// A factor graph laid out for message passing: which clause looks at which values, and in which order clauses send.
//
// A few variables may be known: each case gives them values, and their edges, with all loops through them, are gone.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/logic/factor_graph.h"

namespace anesi {

// Constant.
struct MessagePlan {
  // `known` are world variables. Throws UsageError if a clause has no edge, or an edge names no value or all.
  MessagePlan(const FactorGraph& graph, std::vector<std::int64_t> known_variables);

  // One clause and one variable that is not known; two runs of `places`.
  struct Edge {
    std::int64_t begin, middle, end;  // values that do not satisfy the clause, then those that do
  };
  struct Clause {
    std::int64_t begin, end;  // of its edges
    std::int64_t weight;      // among the weights of soft clauses, or FactorGraph::kMustHold
    std::int64_t decided;     // row of `satisfied`, -1 if it has no known variable
    bool in_loop;             // with known variables gone; otherwise two sweeps over it are exact
  };

  std::vector<std::int64_t> known;   // variables
  std::vector<std::int64_t> first;   // [variables + 1], the place of each variable's first value
  std::vector<std::int64_t> places;  // of values, edge by edge
  std::vector<Edge> edges;
  std::vector<Clause> clauses;      // leaves of trees first, so that one sweep over all and one back are exact there
  std::vector<char> satisfied;      // [clauses with known variables, cases]
  std::int64_t cases = 1;           // the values of known variables, the last running fastest
  std::int64_t longest_clause = 0;  // in edges
  bool has_loops = false;

  std::int64_t values() const { return first.back(); }
  // The value of the known variable at this place of `known`.
  std::int64_t value_in_case(std::size_t place, std::int64_t index) const;
};

}  // namespace anesi

// The factor graph of a formula: what messages are passed along (exact/belief_propagation.h, the architecture `graph`).
#pragma once

#include "anesi/logic/cnf.h"
#include "anesi/logic/factor_graph.h"
#include "anesi/logic/wcnf.h"

namespace anesi {

// Of the worlds that satisfy a constraint or, where the formula is of a function with one output of two values, of the
// worlds whose output is 1. What follows from that output at once is left out. Throws UsageError where the formula has
// other outputs, or nothing satisfies it for a reason as simple.
FactorGraph factor_graph_of(const Cnf& cnf, const Space& worlds);
// With soft clauses besides, over variables of the formula; their weights are numbered as they are.
FactorGraph factor_graph_of(const Cnf& cnf, const Space& worlds, const std::vector<SoftClause>& soft);

}  // namespace anesi

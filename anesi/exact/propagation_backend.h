// Approximate inference for problems that give a formula, by belief propagation (belief_propagation.h).
//
// For formulas of any size, also those that do not compile. Exact if the cases leave no loop; else log p(y|P) is an
// estimate, kept below the weight of all worlds, and p(0|P) is what it leaves. Gradients are those of the estimate.
//
// Worlds are chosen variable by variable, by the same estimate: p(w_i = v | chosen, y) is in proportion to
// P_i(v) p(y | P certain of what is chosen and of v). So the most probable world is a greedy choice. If the problem
// gives a pruner only values that it allows are chosen, and worlds give the output.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/exact/backend.h"
#include "anesi/exact/belief_propagation.h"

namespace anesi {

// Throws UsageError unless the problem gives a formula (Cnf) and has one output of two values.
std::unique_ptr<Backend> make_propagation_backend(const Problem& problem, const PropagationOptions& options = {});

}  // namespace anesi

// A constraint on worlds as a problem: which worlds satisfy it?
//
// Its one output is 1 where the constraint holds, and that is what is asked of every prediction. Labels may then be the
// worlds themselves: structured outputs that always keep the rules (appendix B of the paper).
#pragma once

#include <memory>

#include "anesi/core/known_variables.h"
#include "anesi/core/problem.h"
#include "anesi/logic/compiled_formula.h"

namespace anesi {

// The label of examples that satisfy the constraint.
inline constexpr std::int64_t kSatisfied = 1;

// From a circuit: with exact inference and an exact pruner. Throws Error where no world satisfies it.
std::shared_ptr<const Problem> make_constraint(std::shared_ptr<const CompiledFormula> formula);
// The same, where inputs tell some variables. Throws Error where a draw of them cannot be satisfied.
std::shared_ptr<const Problem> make_constraint(std::shared_ptr<const CompiledFormula> formula, KnownVariables known);

}  // namespace anesi

// A formula as a problem, without compiling it: which worlds satisfy it?
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/exact/cnf.h"

namespace anesi {

// Its one output is 1 where a world has a model of the formula, a constraint (Encoding::is_constraint). It tells the
// formula, and a pruner by SAT solving. Throws Error where no world satisfies it, or anesi was built without CaDiCaL.
std::shared_ptr<const Problem> make_formula_constraint(Cnf cnf);

}  // namespace anesi

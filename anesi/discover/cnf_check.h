// Does a formula that was told say what the function does?
#pragma once

#include "anesi/core/problem.h"
#include "anesi/discover/discover.h"
#include "anesi/discover/problem_check.h"
#include "anesi/logic/cnf.h"

namespace anesi {

// Compares the formula with c on these worlds and their outputs: with a world's literals the formula must have exactly
// one model, whose output is c's (for a constraint: one model if c gives 1, else none). Then on worlds that the formula
// itself finds for those outputs, close to the first ones. Needs CaDiCaL; without it, only literals and domains are
// compared, which the finding says.
Finding check_cnf(const Problem& problem, const Cnf& cnf, PointRows worlds, PointRows outputs);

// On how many worlds of a source the formula gives another output than c, or none. Needs CaDiCaL.
DistanceBound certify_cnf(const Problem& problem, const Cnf& cnf, const WorldSource& source, std::int64_t draws,
                          Random& random);

}  // namespace anesi

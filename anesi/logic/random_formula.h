// Random formulas: clauses of a few literals each, over variables of two values.
#pragma once

#include <random>

#include "anesi/logic/cnf.h"

namespace anesi {

// A constraint; each clause has so many different variables, each negated or not. The same seed, the same formula.
Cnf random_formula(int variables, int clauses, int literals, std::mt19937_64& random);

}  // namespace anesi

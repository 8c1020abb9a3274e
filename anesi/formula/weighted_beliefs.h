// Weights of literals, as files give them, as beliefs.
#pragma once

#include "anesi/core/rows.h"
#include "anesi/core/space.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/dimacs.h"

namespace anesi {

struct WeightedBeliefs {
  Matrix<double> beliefs;  // in the values of world variables, [worlds, largest domain]
  double log_scale = 0;    // the logarithm of what they have to be multiplied with to be the weights again
};

// A value of a variable weighs what the literal that stands for it weighs, times the weights of the others' negations
// where each value has a literal of its own. All values alike where the file has no weights.
WeightedBeliefs weighted_beliefs(const Encoding& encoding, const Space& worlds, const Dimacs& formula);

// Whether variables that are not of the world have weights, which worlds alone do not tell.
bool weighs_hidden(const Encoding& encoding, const Dimacs& formula);

}  // namespace anesi

// Weights of literals, as files give them, as beliefs.
#pragma once

#include <torch/torch.h>

#include "anesi/core/space.h"
#include "anesi/exact/cnf.h"
#include "anesi/exact/dimacs.h"

namespace anesi {

// A file's weights as beliefs in the values of world variables, double [1, worlds, domain], and the logarithm of what
// they have to be multiplied with to be the weights again. Uniform where the file gives none.
struct WeightedBeliefs {
  torch::Tensor beliefs;
  double log_scale = 0;
};

WeightedBeliefs weighted_beliefs(const Encoding& encoding, const Space& worlds, const Dimacs& formula);

// Whether variables that are not of the world have weights, which worlds alone do not tell.
bool weighs_hidden(const Encoding& encoding, const Dimacs& formula);

}  // namespace anesi

// The most probable world that gives an output (search/most_probable_worlds.h), asked with tensors.
#pragma once

#include <torch/torch.h>

#include "anesi/search/most_probable_worlds.h"

namespace anesi {

struct ConsistentWorlds {
  torch::Tensor worlds;  // int64 [batch, variables]; kUnset where none was found
  torch::Tensor gap;     // double [batch], as ConsistentWorld::gap
  torch::Tensor nodes;   // int64 [batch]
  torch::Tensor proven;  // bool [batch]
};

// Beliefs are probabilities, [batch, worlds, domain], and outputs int64 [batch, outputs], where kUnset leaves a
// variable open. Answers are on the beliefs' device. Throws Error as the search does.
ConsistentWorlds most_probable_worlds(const Problem& problem, const torch::Tensor& beliefs,
                                      const torch::Tensor& outputs, const SearchLimits& limits = {});

}  // namespace anesi

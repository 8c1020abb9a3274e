// What c may be told besides the world: a fact of problems whose function takes more than that.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "anesi/core/space.h"

namespace anesi {

// Buys a q that answers for whatever is given, and learns more from each world that is sampled.
struct Given {
  Space space;                                                                     // of what is given
  std::function<torch::Tensor(std::int64_t count, at::Generator generator)> draw;  // at random, int64 [count, given]
};

}  // namespace anesi

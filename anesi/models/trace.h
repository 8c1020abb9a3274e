// What c knows on the way to its outputs: a fact of problems that can tell.
#pragma once

#include <torch/torch.h>

#include <functional>

namespace anesi {

// Of worlds and what c is told besides: int64 [batch, …], kUnset where there is nothing to tell (the direction from
// every cell to the goal, not only from those of the path). Buys a q that learns from it too
// (SequenceModel::log_prob_with_trace).
struct Trace {
  std::function<torch::Tensor(const torch::Tensor& worlds)> of;
};

}  // namespace anesi

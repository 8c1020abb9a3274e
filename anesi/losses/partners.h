// Several processes that learn one q together: each draws the same, computes its own part, and gradients are added up.
//
// Whoever has the processes (torchrun, MPI) says how tensors are added up between them. Since all draws come from
// generators in the same state, and every process takes the same step on the same sum, q stays the same everywhere to
// the last bit.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace anesi {

struct Partners {
  std::int64_t rank = 0, size = 1;
  // Replaces a tensor by its sum over all processes, the same bits in each. Throws where one of them is gone.
  std::function<void(torch::Tensor& tensor)> add_up = {};

  bool alone() const { return size == 1; }
};

}  // namespace anesi

// Smaller problems of the same kind inside examples: what training may look at instead of whole ones.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>

#include "anesi/core/problem.h"
#include "anesi/tensors/examples.h"

namespace anesi {

// Random pieces of examples (a window of a map with a piece of its path), and the problem that they are of. Needs a q
// that serves both.
struct Pieces {
  std::shared_ptr<const Problem> problem;
  // One of each of these rows, int64 [batch].
  std::function<Batch(const Examples& examples, const torch::Tensor& rows, at::Generator generator)> draw;
};

}  // namespace anesi

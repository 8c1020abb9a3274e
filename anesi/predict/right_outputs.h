// Which outputs count as right.
#pragma once

#include "anesi/core/score.h"
#include "anesi/tensors/examples.h"
#include "anesi/tensors/problem.h"

namespace anesi {

// Whether outputs are what was observed, or do as well in the true world where that is known (another path that is as
// cheap), bool [batch].
inline torch::Tensor right_outputs(const Problem& problem, const Batch& batch, const torch::Tensor& outputs) {
  const auto same = batch.observations.agree(outputs);
  if (!batch.worlds.defined() || (batch.worlds == kUnset).any().item<bool>()) return same;
  return same.logical_or(regret(problem, batch.worlds, outputs) == 0);
}

}  // namespace anesi

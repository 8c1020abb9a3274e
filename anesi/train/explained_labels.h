// The worlds behind training labels, as far as those tell: what refinement takes for the truth.
#pragma once

#include <torch/torch.h>

#include "anesi/tensors/named_tensors.h"

namespace anesi {

// Of those examples that have one within the limits.
struct ExplainedLabels {
  torch::Tensor rows;    // int64 [kept], of the examples
  torch::Tensor worlds;  // int64 [kept, variables], the most probable
  // What is believed of each variable once the label is known, float [kept, variables, domain]; undefined: the world is
  // taken for certain.
  torch::Tensor marginals = {};
  double gap = 0;  // to the most likely worlds, in nats: mean over all examples whose output holds

  NamedTensors state() const;
  // Throws Error where something is missing.
  static ExplainedLabels from(const NamedTensors& state);
};

}  // namespace anesi

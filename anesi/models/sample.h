// Points drawn from a model, for any architecture.
#pragma once

#include "anesi/core/pruner.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

struct Samples {
  torch::Tensor values;    // int64 [batch, variables]
  torch::Tensor log_prob;  // [batch]; under the pruned and renormalised model where there is a pruner
};

// One point for each belief. With a pruner, only among outputs that some world gives.
Samples sample(SequenceModel& model, const torch::Tensor& beliefs, at::Generator generator,
               const Pruner* pruner = nullptr);

}  // namespace anesi

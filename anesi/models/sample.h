// Points drawn from a model, for any architecture.
#pragma once

#include "anesi/models/prune.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

struct Samples {
  torch::Tensor values;    // int64 [batch, variables]
  torch::Tensor log_prob;  // [batch]; under the pruned and renormalised model where there is pruning
};

// One point for each row of the context. With pruning, only among points that can be completed. Above a temperature of
// one, draws are more even than the model; log_prob stays the model's. Gradients of log_prob flow as the rollouts' do.
Samples sample(SequenceModel& model, const Context& context, const at::Generator& generator,
               const Pruning* pruning = nullptr, double temperature = 1);

}  // namespace anesi

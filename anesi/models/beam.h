// The most likely points of a model by beam search, for any architecture.
#pragma once

#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"

namespace anesi {

using Beam = Ranked;

// Up to `width` points for each row of the context; found is width or the size of the space, whichever is less. Exact
// where the model ranks points itself, or the width reaches the number of prefixes; else a width of one is greedy
// decoding. With pruning, only among points
// that can be completed. Costs as many model steps as there are variables, each on batch * width rows.
Beam beam_search(SequenceModel& model, const Context& context, std::int64_t width, const Pruning* pruning = nullptr);

// The same for q(w,y|P) = q(y|P) q(w|y,P): outputs first, then worlds, one beam throughout. q must explain.
struct JointBeam {
  torch::Tensor outputs;   // int64 [batch, found, outputs]
  torch::Tensor worlds;    // int64 [batch, found, worlds]
  torch::Tensor log_prob;  // [batch, found]
};
JointBeam joint_beam_search(const InferenceModel& model, const torch::Tensor& beliefs, std::int64_t width,
                            const Pruning* pruning = nullptr);

// The most probable worlds for given outputs: a beam over q(w|y,P), headed by the model's own most probable world where
// it can tell. log_prob is log q(w|y,P).
Beam explain(SequenceModel& explanation, const Context& context, std::int64_t width, const Pruning* pruning = nullptr);

}  // namespace anesi

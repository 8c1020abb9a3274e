// The most likely points of a model by beam search, for any architecture.
#pragma once

#include "anesi/core/pruner.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

struct Beam {
  torch::Tensor values;    // int64 [batch, found, variables], most likely first
  torch::Tensor log_prob;  // [batch, found]; -inf marks a place that no point fills
};

// Up to `width` points for each belief; found is width or the size of the space, whichever is less. Exact where the
// width reaches the number of prefixes; a width of one is greedy decoding. With a pruner, only among outputs that some
// world gives. Costs as many model steps as there are variables, each on batch * width rows.
Beam beam_search(SequenceModel& model, const torch::Tensor& beliefs, std::int64_t width,
                 const Pruner* pruner = nullptr);

}  // namespace anesi

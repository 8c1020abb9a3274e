// Worlds given an output, in a machine with finitely many states: most probable, sampled, one variable at a time.
//
// In 64 bits, with messages normalised at each step, so that neither length nor confident beliefs underflow. A step
// that reads C combinations costs C * r^2 operations with r states.
#pragma once

#include <torch/torch.h>

#include "anesi/core/reading_order.h"
#include "anesi/models/sequence_model.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// A machine and what it is given.
struct FiniteStateEvidence {
  torch::Tensor beliefs;              // [batch, worlds, domain]
  torch::Tensor outputs;              // int64 [batch, outputs]; kUnset leaves a variable open
  torch::Tensor initial;              // [states]
  std::vector<torch::Tensor> tables;  // one a kind, [emitted, combinations, states, next states]
};

// The most probable path through worlds and states (Viterbi); the most probable world where moves are certain.
MostProbable most_probable_worlds(const FiniteStateEvidence& evidence, const ReadingOrder& reading);

// A world for each row, by forward filtering and backward messages, int64 [batch, worlds]. Throws Error where an output
// is impossible.
torch::Tensor sample_worlds(const FiniteStateEvidence& evidence, const ReadingOrder& reading, at::Generator generator);

// Chooses world variables in the order in which they are read, each from its exact conditional. Throws Error where an
// output is impossible. The reading order outlives it.
std::unique_ptr<Rollout> begin_explanation(const FiniteStateEvidence& evidence, const ReadingOrder& reading);

}  // namespace anesi

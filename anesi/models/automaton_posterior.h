// Worlds given an output, in an automaton: most probable, sampled, one variable at a time.
#pragma once

#include <memory>

#include "anesi/models/automaton_filter.h"
#include "anesi/models/sequence_model.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// The most probable world of each row (Viterbi).
MostProbable most_probable_worlds(const AutomatonPass& pass);

// A world for each row, by messages back and choices forward, int64 [batch, worlds]. Throws Error where an output is
// impossible.
torch::Tensor sample_worlds(const AutomatonPass& pass, const at::Generator& generator);

// Log-probabilities come in the options' type and place. Chooses world variables in the order in which they are read,
// each from its exact conditional. Throws Error where an output is impossible.
std::unique_ptr<Rollout> begin_explanation(AutomatonPass pass, torch::TensorOptions options);

// Chooses output variables in the order in which they are emitted, each from its exact conditional; the pass's own
// outputs are open.
std::unique_ptr<Rollout> begin_prediction(AutomatonPass pass, torch::TensorOptions options);

}  // namespace anesi

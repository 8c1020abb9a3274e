// Choosing worlds or outputs of an automaton variable by variable, each from its exact conditional.
#pragma once

#include <memory>

#include "anesi/exact/automaton_row.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

// Log-probabilities come in the options' type and place. Chooses world variables in the order in which they are read.
// Throws Error if an output is impossible.
std::unique_ptr<Rollout> begin_explanation(AutomatonRows rows, torch::TensorOptions options);

// Chooses output variables in the order in which they are emitted; the rows' own outputs are open.
std::unique_ptr<Rollout> begin_prediction(AutomatonRows rows, torch::TensorOptions options);

}  // namespace anesi

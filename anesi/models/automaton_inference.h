// Exact inference in a function with a finite memory: dynamic programming over its states. Linear in the length.
#pragma once

#include <memory>

#include "anesi/exact/automaton.h"
#include "anesi/models/inference_model.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton);

// The same as models: p(y|P) and p(w|y,P) for sampling and beam search. They have no weights.
InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton, const Space& outputs);

}  // namespace anesi

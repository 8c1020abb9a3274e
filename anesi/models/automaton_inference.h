// An automaton's exact inference (exact/automaton_backend.h) with tensors, and as models.
#pragma once

#include <memory>

#include "anesi/exact/automaton.h"
#include "anesi/models/inference_model.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton);

// What the machine makes of each world, int64 [batch, world variables] -> [batch, output variables].
torch::Tensor outputs_of(const Automaton& automaton, const torch::Tensor& worlds);

// The same as models: p(y|P) and p(w|y,P) for sampling and beam search. They have no weights.
InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton, const Space& outputs);
InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton,
                                    const std::shared_ptr<const ExactInference>& exact, const Space& outputs);

}  // namespace anesi

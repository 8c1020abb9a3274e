// Where sampling and beam search meet the pruner: one step's log-probabilities, pruned and renormalised.
#pragma once

#include "anesi/core/pruner.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

// log_probs [rows, domain] of `variable`, restricted to what the pruner allows given `chosen` (int64 [rows, variables],
// kUnset where not chosen) and renormalised; the normaliser is part of the graph. Throws Error where a row has no
// completion at all, naming its prefix.
torch::Tensor prune_step(const torch::Tensor& log_probs, const torch::Tensor& chosen, std::int64_t variable,
                         const Pruner& pruner);

}  // namespace anesi

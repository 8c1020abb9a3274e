// Exact inference of whatever kind a problem allows, by name, and as a model.
#pragma once

#include <memory>
#include <string>

#include "anesi/core/problem.h"
#include "anesi/exact/backends.h"
#include "anesi/models/exact_architecture.h"
#include "anesi/models/inference_model.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// By the back end that choose_backend() takes. Throws Error where there is none, or a circuit does not compile in time.
std::unique_ptr<ExactInference> make_exact(const Problem& problem, const ExactOptions& options = {});
// Null where "auto" finds none; a circuit is given up after `seconds`.
std::unique_ptr<ExactInference> find_exact(const Problem& problem, double seconds = 60, std::string* why_not = nullptr);

// p(y|P) and p(w|y,P) as models of the architecture kExactArchitecture, for sampling, beam search and evaluation; they
// have no weights.
InferenceModel make_exact_model(const Problem& problem, const ExactOptions& options = {});

// The models of any exact inference: each step asks it about every value of the next variable. Without `rollouts` the
// prediction model can only tell probabilities.
InferenceModel models_of(const std::shared_ptr<const ExactInference>& inference, const Space& outputs,
                         bool rollouts = true);

}  // namespace anesi

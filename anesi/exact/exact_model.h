// Exact inference of whatever kind a problem allows, by name, and as a model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anesi/core/exact_inference.h"
#include "anesi/core/problem.h"
#include "anesi/models/inference_model.h"

namespace anesi {

// "auto", "automaton", "enumerate", "circuit", "conditioned" (a circuit for each output that is asked about).
const std::vector<std::string>& exact_methods();

// "auto" takes the first that the problem allows: its automaton, enumeration of a small space, its formula's circuit.
// Throws Error where there is none, or a circuit does not compile within `seconds`.
std::unique_ptr<ExactInference> make_exact(const Problem& problem, const std::string& method = "auto",
                                           double seconds = 60);
// Null where "auto" finds none; a circuit is given up after `seconds`.
std::unique_ptr<ExactInference> find_exact(const Problem& problem, double seconds = 60, std::string* why_not = nullptr);

// p(y|P) and p(w|y,P) as models, for sampling, beam search and evaluation; they have no weights.
InferenceModel make_exact_model(const Problem& problem, const std::string& method = "auto", double seconds = 60);

// The models of any exact inference: each step asks it about every value of the next variable. Without `rollouts` the
// prediction model can only tell probabilities.
InferenceModel models_of(const std::shared_ptr<const ExactInference>& inference, const Space& worlds,
                         const Space& outputs, bool rollouts = true);

}  // namespace anesi

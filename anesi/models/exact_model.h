// Exact inference of whatever kind a problem allows, by name, and as a model.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "anesi/core/problem.h"
#include "anesi/models/exact_architecture.h"
#include "anesi/models/inference_model.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// kAuto takes the first that the problem allows: its automaton, enumeration of a small space, its formula's circuit.
// kConditioned compiles a circuit for each output that is asked about.
enum class ExactMethod { kAuto, kAutomaton, kEnumerate, kCircuit, kConditioned };
constexpr std::array<std::string_view, 5> names_of(ExactMethod) {
  return {"auto", "automaton", "enumerate", "circuit", "conditioned"};
}

struct ExactOptions {
  ExactMethod method = ExactMethod::kAuto;
  double seconds = 60;

  void describe(OptionTable& table) {
    table.add("method", method, "how exact inference counts; auto takes the first that the problem allows");
    table.add("seconds", seconds, {0.1, 1000000}, "time after which compiling a circuit is given up");
  }
};

// Throws Error where the problem allows none, or a circuit does not compile in time.
std::unique_ptr<ExactInference> make_exact(const Problem& problem, const ExactOptions& options = {});
// Null where kAuto finds none; a circuit is given up after `seconds`.
std::unique_ptr<ExactInference> find_exact(const Problem& problem, double seconds = 60, std::string* why_not = nullptr);

// p(y|P) and p(w|y,P) as models of the architecture kExactArchitecture, for sampling, beam search and evaluation; they
// have no weights.
InferenceModel make_exact_model(const Problem& problem, const ExactOptions& options = {});

// The models of any exact inference: each step asks it about every value of the next variable. Without `rollouts` the
// prediction model can only tell probabilities.
InferenceModel models_of(const std::shared_ptr<const ExactInference>& inference, const Space& outputs,
                         bool rollouts = true);

}  // namespace anesi

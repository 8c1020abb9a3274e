// A trained model on disk: all that prediction needs, and nothing of training.
//
//   model/manifest.json        what it is: spaces, q's architecture, options, and the weights' checksum
//   model/found.safetensors    facts that were found by asking c, where there are such (exact/found_facts.h)
//   model/weights.safetensors  perception.*, q.* and, where there is an explanation model, explanation.*
//
// A manifest says nothing of the problem but its spaces, and nothing of the kind of perception: whoever loads a model
// brings both, or names the registered task that does (run/load_run.h). Models of earlier versions are read; names of
// options that are not known any more are passed over.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/array.h"
#include "anesi/predict/manifest.h"
#include "anesi/predict/predictor.h"
#include "anesi/tensors/allocation_limit.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

// What a manifest says, and where it stands.
struct SavedModel : Manifest {
  std::filesystem::path directory;   // with manifest.json and weights.safetensors in it
  std::optional<Decision> decision;  // fitted
};

// Of a model's directory, or of a run's, which has it as `model`. Throws Error where a file is missing, damaged or of a
// later version. Reads no weights.
SavedModel read_saved_model(const std::filesystem::path& directory);

// Bounds what may be built for a saved model before its shapes are compared with those of its weights: some times their
// size, and what a model without weights may take. Exact inference takes what the problem takes.
AllocationLimit limit_by_weights(const SavedModel& saved);

// The facts that were found by asking c, where there are such (exact/found_facts.h). Throws Error as above.
NamedArrays read_found_facts(const SavedModel& saved);

// Throws Error as above; before any weight is read where the problem's spaces are not the model's, or q or perception
// have other shapes than the weights; and where those are not the ones that the manifest describes. A pruner, an
// automaton or whatever else q needs must be a fact of the problem.
Predictor load_predictor(const std::filesystem::path& directory, std::shared_ptr<const Problem> problem,
                         const MakePerception& make_perception);
Predictor load_predictor(const SavedModel& saved, std::shared_ptr<const Problem> problem,
                         const MakePerception& make_perception);

// What else a manifest tells.
struct TrainingDetails {
  std::string task = {}, preset = {};
  std::map<std::string, std::string> options = {};  // all of a configuration
  std::string trained_on = {};
  std::vector<std::int64_t> data_fingerprint = {};
};

// Writes the directory, or replaces the model in it as a whole; a failure leaves what was there. Throws Error where the
// directory holds something else than a model, or where q was put together by hand: it has no name to be made again by.
void save_model(const std::filesystem::path& directory, const Predictor& predictor,
                const TrainingDetails& details = {});

// The weights of q of a saved model, for a q of this architecture. Throws Error as above, and where the q there is of
// another architecture.
NamedTensors load_q(const std::filesystem::path& directory, const std::string& architecture);

}  // namespace anesi

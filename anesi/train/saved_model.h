// A trained model on disk: all that inference needs, and nothing of training.
//
//   model/manifest.json        task, options, spaces, and the weights' checksum
//   model/weights.safetensors  perception.*, q.* and, where there is an explanation model, explanation.*
#pragma once

#include <filesystem>
#include <memory>

#include "anesi/train/configuration.h"
#include "anesi/train/evaluate.h"

namespace anesi {

// Writes the directory, or replaces it as a whole; a failure leaves what was there. The data are not saved, but what
// tells them apart from others is.
void save_model(const std::filesystem::path& directory, const Configuration& configuration, const Problem& problem,
                const Perception& perception, const InferenceModel& model,
                const std::optional<Decision>& decision = std::nullopt, const Splits* trained_on = nullptr);

// The decision that the configuration asks for, fitted on validation data, or on training data where there are none;
// empty where it asks for none.
std::optional<Decision> fit_decision(const Configuration& configuration, const Problem& problem, Perception& perception,
                                     const InferenceModel& model, const Splits& data);

struct SavedModel {
  std::unique_ptr<Configuration> configuration;
  Task task;  // its perception is trained and in evaluation mode
  InferenceModel model;
  std::shared_ptr<Pruner> pruner;    // null unless the run prunes symbolically
  std::shared_ptr<Pruning> pruning;  // by it, or learned; null unless the run prunes

  std::optional<Decision> decision;  // fitted, where the run decides by a score

  std::string trained_on;                      // where the data came from; empty where that is not known
  std::vector<std::int64_t> data_fingerprint;  // of dataset.h
  std::function<void(const std::string&)> say;

  // The task's data, with a note through the context's `say` where they are not those of the training.
  Splits load_data() const;
  // How this model is to be evaluated.
  EvaluateSettings evaluate_settings() const;
  // Beliefs of inputs [batch, …], checked.
  torch::Tensor beliefs(const torch::Tensor& inputs) const;
};

// The weights of q in a run's directory or a model's, for a q of this architecture. Throws Error as load_model does,
// and where the q there is of another architecture.
NamedTensors load_q(const std::filesystem::path& directory, const std::string& architecture);

// Throws Error where a file is missing, damaged or of another version.
SavedModel load_model(const std::filesystem::path& directory, TaskContext context = {});

}  // namespace anesi

// A trained model on disk: all that inference needs, and nothing of training.
//
//   model/manifest.json        task, options, spaces, and the weights' checksum
//   model/weights.safetensors  perception.*, q.* and, where there is an explanation model, explanation.*
#pragma once

#include <filesystem>
#include <memory>

#include "anesi/train/configuration.h"

namespace anesi {

// Writes the directory, or replaces it as a whole; a failure leaves what was there.
void save_model(const std::filesystem::path& directory, const Configuration& configuration, const Problem& problem,
                const Perception& perception, const InferenceModel& model);

struct SavedModel {
  std::unique_ptr<Configuration> configuration;
  Task task;  // its perception is trained and in evaluation mode
  InferenceModel model;
  std::shared_ptr<Pruner> pruner;    // null unless the run prunes symbolically
  std::shared_ptr<Pruning> pruning;  // by it, or learned; null unless the run prunes

  // Beliefs of inputs [batch, …], checked.
  torch::Tensor beliefs(const torch::Tensor& inputs) const;
};

// Throws Error where a file is missing, damaged or of another version.
SavedModel load_model(const std::filesystem::path& directory, TaskContext context = {});

}  // namespace anesi

// A trained model on disk: all that inference needs, and nothing of training.
//
//   model/manifest.json        task, options, spaces, and the weights' checksum
//   model/weights.safetensors  perception.* and q.*
#pragma once

#include <filesystem>
#include <memory>

#include "anesi/train/configuration.h"

namespace anesi {

// Writes the directory, or replaces it as a whole; a failure leaves what was there.
void save_model(const std::filesystem::path& directory, const Configuration& configuration, const Problem& problem,
                const Perception& perception, const SequenceModel& model);

struct SavedModel {
  std::unique_ptr<Configuration> configuration;
  Task task;  // its perception is trained and in evaluation mode
  std::shared_ptr<SequenceModel> model;

  // Beliefs of inputs [batch, …], checked.
  torch::Tensor beliefs(const torch::Tensor& inputs) const;
};

// Throws Error where a file is missing, damaged or of another version.
SavedModel load_model(const std::filesystem::path& directory, TaskContext context = {});

}  // namespace anesi

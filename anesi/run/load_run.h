// A saved model of a registered task: the task brings problem, perception, data and words.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "anesi/answers/answers.h"
#include "anesi/predict/saved_model.h"
#include "anesi/run/configuration.h"

namespace anesi {

struct LoadedRun {
  SavedModel saved;
  std::unique_ptr<Configuration> configuration;
  Task task;
  Predictor predictor;
  Say say;

  const Presentation& presentation() const { return *task.presentation; }
  // Refers to this.
  Answers answers() const { return {predictor, presentation(), configuration->task_name}; }
  // The task's data, with a note through the context's `say` where they are not those of the training.
  Splits load_data() const;
};

// From a run's directory, or a model's. Throws Error where a file is missing, damaged or of a later version, or where
// the model is of no registered task.
LoadedRun load_run(const std::filesystem::path& directory, TaskContext context = {});

}  // namespace anesi

// One training run, as the commands train and repeat do it.
#pragma once

#include <optional>

#include "anesi/run/run.h"
#include "anesi/run/training.h"

namespace anesi::cli {

struct Trained {
  Evaluation evaluation;                // on the test split
  std::optional<Evaluation> unrefined;  // of perception as it was before it was refined
  std::optional<double> labels_right;   // world variables right in the explained labels, where the truth is known
  double seconds = 0;                   // of training
  std::int64_t restarts = 0;            // of the perception phase

  // The keys that other programs read.
  nlohmann::ordered_json to_json() const;
};

// From now on a reader of the progress that leaves (`2>&1 | head`) does not end the program: training goes on.
void outlast_readers();

// Trains to the end, with progress on stderr, then saves and evaluates the model and writes the run's result: the
// figures, the machine, and when training began (or was resumed) and ended. Empty where it was interrupted; then the
// checkpoint is saved. From now on Ctrl-C, SIGTERM and a terminal that is closed ask training to stop and save; a
// second Ctrl-C ends the program at once.
std::optional<Trained> train_to_the_end(const Run& run, Training& training);

}  // namespace anesi::cli

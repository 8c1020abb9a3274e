// A small training of mnist-add for tests: everything that training does, in about a second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anesi/data/procedural_digits.h"
#include "anesi/run/training.h"
#include "anesi/tensors/digit_examples.h"
#include "anesi/tensors/named_tensors.h"
#include "anesi/testing/stop_after.h"

namespace anesi::toys {

inline DigitSets few_digits() { return {render_digits(400, 1), render_digits(80, 2), "procedural digits", true}; }

struct SmallTraining {
  explicit SmallTraining(const std::vector<std::string>& settings = {}) : configuration("mnist-add", "scan") {
    for (const auto& setting : {"task.digits=2", "scan.width=16", "q.pretrain=5", "q.samples=16", "train.epochs=2",
                                "train.batch=16", "seed=3"}) {
      configuration.table().set(setting);
    }
    for (const auto& setting : settings) configuration.table().set(setting);
    task = configuration.make_task({});
    data = group_digits(few_digits(), *task.problem, {.seed = 3, .validation = configuration.train.validation});
    training = std::make_unique<Training>(configuration, task, data);
  }

  Learner& learner() const { return training->learner(); }
  Trainer& trainer() const { return training->trainer(); }
  std::int64_t steps_per_epoch() const {
    const auto batch = configuration.train.batch;
    return (data.train->size() + batch - 1) / batch;
  }

  Configuration configuration;
  Task task;
  Splits data;
  std::unique_ptr<Training> training;
};

struct Recorder final : TrainingObserver {
  void on_step(const Progress&) override { ++steps; }
  void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
    phases.push_back(progress.phase);
    if (evaluation) losses.push_back(progress.loss);
  }
  std::int64_t steps = 0;  // of all phases
  std::vector<std::string> phases;
  std::vector<double> losses;
};

inline bool same(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    if (name != "sums" && !torch::equal(tensor, b.at(name))) return false;  // sums hold seconds
  }
  return true;
}

}  // namespace anesi::toys

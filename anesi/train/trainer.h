// Training: a list of phases, one after another, that can be stopped at any step and taken up again.
//
// Everything random comes from the learner's generator or its seed, and state() holds everything that the future
// depends on, so a run that was interrupted and resumed ends with the same weights, bit for bit, as one that was not.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/tensors/named_tensors.h"
#include "anesi/train/learner.h"
#include "anesi/train/phase.h"

namespace anesi {

struct Progress {
  std::string phase;                        // its name
  std::int64_t step = 0, steps = 0;         // that are done, and that there are
  std::int64_t epoch = 0, epochs = 0;       // 0 in phases that have none
  double loss = kNoLoss, q_loss = kNoLoss;  // means since the last report
  double seconds = 0;                       // of training so far, in all phases and resumed parts, without evaluations
  std::int64_t restarts = 0;                // of perception
  std::int64_t grown = 0;                   // how often a memory that was found had to be found anew
  std::string split = {};                   // that evaluations are of

  static constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();
};

// What the trainer tells its surroundings. The calls come from the thread that runs it.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const Progress&) {}
  // When a phase reports; `evaluation` is empty where there is nothing to evaluate yet. A good moment for a checkpoint.
  virtual void on_evaluation(const Progress&, const std::optional<Evaluation>&) {}
  // Asked after each step; true ends the run early, with state() as it is.
  virtual bool should_stop() { return false; }
};

class Trainer {
 public:
  // The learner outlives the trainer. Seeds torch's own generator too, for modules that draw from it. Throws Error
  // where two phases have one name.
  Trainer(Learner& learner, std::vector<std::unique_ptr<Phase>> phases);

  // Trains from where it stands to the end. False where the observer stopped it.
  bool run(TrainingObserver& observer);

  // A copy of everything that the future depends on.
  NamedTensors state() const;
  // Throws Error where the state is of other phases or another learner.
  void load_state(const NamedTensors& state);

  double seconds() const { return seconds_; }

 private:
  // Sums since the last report.
  struct Sum {
    double total = 0;
    std::int64_t count = 0;
    void add(const std::optional<double>& value);
    double mean() const;
  };
  Progress progress(const Phase& phase) const;

  Learner& learner_;
  std::vector<std::unique_ptr<Phase>> phases_;
  std::size_t phase_ = 0;  // the one that is running
  std::int64_t step_ = 0;  // of it that comes next
  Sum loss_, q_loss_;
  double seconds_ = 0;
};

}  // namespace anesi

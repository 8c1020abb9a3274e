// Several perceptions are trained for a moment, each from weights of its own, and the one that q likes best is kept.
#pragma once

#include <optional>

#include "anesi/train/learner.h"
#include "anesi/train/options.h"
#include "anesi/train/phase.h"

namespace anesi {

class StartsPhase final : public Phase {
 public:
  StartsPhase(Learner& learner, const TrainOptions& options)
      : learner_(learner), options_(options), batch_(options.batch_size(learner.problem->worlds())) {}

  std::string name() const override { return "starts"; }
  std::int64_t steps() const override { return options_.starts * options_.start_steps; }
  StepLosses step(std::int64_t index) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  struct Start {
    double loss;
    NamedTensors weights;  // of perception
  };
  void compare();

  Learner& learner_;
  TrainOptions options_;
  std::int64_t batch_;
  double loss_ = 0;            // of the start that is under way, over the steps that count
  std::optional<Start> best_;  // of those that were compared
};

}  // namespace anesi

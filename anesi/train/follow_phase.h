// q learns what a refined perception believes, which is surer than what it learned from.
#pragma once

#include "anesi/train/learner.h"
#include "anesi/train/phase.h"
#include "anesi/train/q_schedule.h"

namespace anesi {

class FollowPhase final : public Phase {
 public:
  // `batch` examples are looked at in a step.
  FollowPhase(Learner& learner, QSchedule schedule, std::int64_t batch)
      : learner_(learner), schedule_(schedule), batch_(batch) {}

  std::string name() const override { return "follow"; }
  std::int64_t steps() const override { return schedule_.after; }
  StepLosses step(std::int64_t index) override {
    const auto batch = learner_.shown(learner_.draw_rows(batch_), learner_.generator);
    auto& perception = *learner_.current_perception();
    perception.eval();
    const auto beliefs = [&] {
      const torch::NoGradGuard no_gradients;
      return perception.forward(batch.inputs);
    }();
    return {.q_loss = learner_.loss->learn(beliefs, schedule_.rate_after(index))};
  }
  std::optional<Evaluation> evaluate() override { return learner_.evaluate(); }

 private:
  Learner& learner_;
  QSchedule schedule_;
  std::int64_t batch_;
};

}  // namespace anesi

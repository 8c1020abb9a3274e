// q alone: it learns from samples of c before perception starts (Algorithm 1).
#pragma once

#include "anesi/train/learner.h"
#include "anesi/train/phase.h"
#include "anesi/train/q_schedule.h"

namespace anesi {

class QPhase final : public Phase {
 public:
  QPhase(Learner& learner, QSchedule schedule) : learner_(learner), schedule_(schedule) {}

  std::string name() const override { return "q"; }
  std::int64_t steps() const override { return schedule_.alone; }
  StepLosses step(std::int64_t index) override {
    return {.q_loss = learner_.loss->learn({}, schedule_.rate_alone(index))};
  }

 private:
  Learner& learner_;
  QSchedule schedule_;
};

}  // namespace anesi

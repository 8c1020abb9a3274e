// An observer that stops a training.
#pragma once

#include "anesi/train/trainer.h"

namespace anesi::toys {

struct StopAfter final : TrainingObserver {
  explicit StopAfter(std::int64_t allowed) : steps(allowed) {}
  bool should_stop() override { return --steps <= 0; }
  std::int64_t steps;
};

}  // namespace anesi::toys

// One step of Algorithm 2: perception looks, q follows it, and perception learns through q.
#pragma once

#include <optional>

#include "anesi/optimize/schedule.h"
#include "anesi/train/learner.h"
#include "anesi/train/phase.h"

namespace anesi {

struct StepPlan {
  Rate rate;                          // of perception
  std::optional<Rate> q_rate = {};    // empty: q stays as it is
  bool perception_learns = true;      // false: only q does
  bool augment = false;               // whether inputs are changed at random first
  double smoothing = 0, entropy = 0;  // weights of what is added to the loss; see TrainOptions
};

// On these rows of the training examples, int64 [batch]. Throws Error where beliefs are none or the loss is not finite.
StepLosses perception_step(Learner& learner, const torch::Tensor& rows, const StepPlan& plan);

}  // namespace anesi

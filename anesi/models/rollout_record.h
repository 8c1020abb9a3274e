// One rollout of q with everything that was on offer: for pictures, and for people who ask why.
#pragma once

#include <vector>

#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"

namespace anesi {

struct RecordedStep {
  bool output;  // of an output variable, else of a world variable
  std::int64_t variable;
  std::vector<double> probabilities;  // of its values, as the model has them
  std::vector<bool> allowed;          // false where the pruner struck a value out
  std::int64_t chosen;
};

// The way to one output and, where q explains and `world` is given, on to that world. Beliefs are of one example.
std::vector<RecordedStep> record_rollout(const InferenceModel& model, const torch::Tensor& beliefs, Values output,
                                         Values world, const Pruning* pruning);

}  // namespace anesi

// What estimators of gradients are compared with.
#pragma once

#include "anesi/core/score.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi::toys {

// The mean over the examples of the expected distance from the outputs that are wanted, by all worlds.
inline torch::Tensor expected_distance(const Problem& problem, const torch::Tensor& beliefs,
                                       const torch::Tensor& wanted) {
  const auto worlds = points_of(problem.worlds());
  const auto outputs = apply(problem, worlds);
  std::vector<torch::Tensor> each;
  for (std::int64_t row = 0; row < beliefs.size(0); ++row) {
    const auto distances = distance(problem, worlds, outputs, wanted.slice(0, row, row + 1).expand_as(outputs));
    const auto log_prob = world_log_prob(beliefs.slice(0, row, row + 1).expand({worlds.size(0), -1, -1}), worlds);
    each.push_back((log_prob.exp() * distances).sum());
  }
  return torch::stack(each).mean();
}

}  // namespace anesi::toys

// The objectives of appendix E side by side: how near q comes to p, by the exact KL both ways, against steps.
//
// The problem is the sum of two digits. Its q is a small network on the tree (y first, then the digits), so that
// everything q can draw is possible and KL(q||p) is finite. All objectives see as many samples in a step, with one
// learning rate; figures are means over beliefs that were never learned from, and over seeds.
#pragma once

#include "anesi/flow/flow_learning.h"

namespace anesi {

struct DivergenceOptions {
  std::int64_t base = 5, width = 64, seeds = 3, tested = 200;
  double concentration = 0.5;  // of the Dirichlet that beliefs are from
  FlowLearningOptions learning{
      .objective = {}, .backward = {}, .steps = 3000, .beliefs = 16, .draws = 4, .learning_rate = 3e-3};
};

struct DivergenceCurve {
  struct Point {
    std::int64_t step;
    double forward, reverse;  // KL(p||q) and KL(q||p), in nats
  };
  Objective objective;
  std::vector<Point> points;
};

// One curve for each objective. Told how many trainings of how many are done.
std::vector<DivergenceCurve> compare_divergences(
    const DivergenceOptions& options, const std::function<void(std::int64_t done, std::int64_t all)>& progress = {});

}  // namespace anesi

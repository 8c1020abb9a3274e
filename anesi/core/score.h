// How good an output is that differs from c's own: a fact of problems whose outputs are not just right or wrong.
#pragma once

#include <functional>
#include <vector>

#include "anesi/core/problem.h"

namespace anesi {

// Either may be empty; then regret() and distance() below do as they do for any problem.
struct Score {
  // By how much outputs would do worse in their worlds than c's own, one number a row; 0 where they do as well (another
  // path that is as cheap), which evaluation counts as right.
  std::function<std::vector<float>(PointRows worlds, PointRows outputs)> regret = {};
  // How far outputs are from those wanted in a world, one number a row, 0 where they are the same; what the loss `rloo`
  // lowers.
  std::function<std::vector<float>(PointRows worlds, PointRows outputs, PointRows wanted)> distance = {};
};

// By the problem's score or, where it has none, 1 where an output is not c's own.
std::vector<float> regret(const Problem& problem, PointRows worlds, PointRows outputs);

// By the problem's score or, where it has none, the share of output variables that differ.
std::vector<float> distance(const Problem& problem, PointRows worlds, PointRows outputs, PointRows wanted);

}  // namespace anesi

// What c knows on the way to its outputs: a fact of problems that can tell.
#pragma once

#include <functional>

#include "anesi/core/rows.h"

namespace anesi {

// Of each world as many numbers, kUnset where there is nothing to tell (the direction from every cell to the goal, not
// only from those of the path). Buys a q that learns from it too (SequenceModel::log_prob_with_trace).
struct Trace {
  std::function<Points(PointRows worlds)> of;
};

}  // namespace anesi

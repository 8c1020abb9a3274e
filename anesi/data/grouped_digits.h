// Examples that are rows of handwritten digits, each digit used once.
#pragma once

#include <cstdint>

#include "anesi/core/problem.h"
#include "anesi/data/digits.h"
#include "anesi/data/example_arrays.h"

namespace anesi {

struct GroupingOptions {
  std::uint64_t seed = 0;   // of the shuffle of the training digits; test digits keep their order
  bool validation = false;  // hold out a sixth of the training digits, 10,000 of MNIST's 60,000, as the paper's tuning
};

// Groups digits into examples of the problem's worlds, one image a world variable; outputs are c of the digits' labels.
// Digits left over at the end are dropped. Throws Error if there are too few digits for one example of a split.
SplitArrays grouped_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options);

}  // namespace anesi

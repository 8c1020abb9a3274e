// Rows of handwritten digits (data/grouped_digits.h) as examples.
#pragma once

#include "anesi/data/grouped_digits.h"
#include "anesi/tensors/examples.h"

namespace anesi {

// Throws Error if there are too few digits for one example of a split.
Splits group_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options);

}  // namespace anesi

#include "anesi/tensors/digit_examples.h"

#include "anesi/tensors/array_examples.h"

namespace anesi {

Splits group_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options) {
  return examples_of(grouped_digits(digits, problem, options));
}

}  // namespace anesi

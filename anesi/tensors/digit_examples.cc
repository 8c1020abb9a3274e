#include "anesi/tensors/digit_examples.h"

#include "anesi/tensors/arrays.h"
#include "anesi/tensors/image_examples.h"
#include "anesi/tensors/rows.h"

namespace anesi {

Splits group_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options) {
  const auto grouped = grouped_digits(digits, problem, options);
  const auto train = tensor_of(digits.train.images), test = tensor_of(digits.test.images);
  const auto examples = [](const torch::Tensor& pool, const DigitRows& rows) {
    return std::make_shared<ImageExamples>(pool, tensor_of(rows.images.rows()), tensor_of(rows.outputs.rows()),
                                           tensor_of(rows.worlds.rows()));
  };
  Splits splits;
  splits.origin = digits.origin;
  splits.train = examples(train, grouped.train);
  if (grouped.validation) splits.validation = examples(train, *grouped.validation);
  splits.test = examples(test, grouped.test);
  return splits;
}

}  // namespace anesi

#include "anesi/data/grouped_digits.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/data/image_examples.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

std::shared_ptr<const Examples> group(const DigitImages& digits, const torch::Tensor& order, const Problem& problem,
                                      const char* split) {
  const auto variables = problem.worlds().variables();
  const auto examples = order.size(0) / variables;
  if (examples == 0) {
    throw Error(fmt::format("{} digits: {} are too few for one example of {}; use fewer digits an example or more data",
                            split, order.size(0), variables));
  }
  const auto index = order.slice(0, 0, examples * variables).view({examples, variables});
  const auto worlds = digits.labels.index_select(0, index.view(-1)).view({examples, variables});
  return std::make_shared<ImageExamples>(digits.images, index, apply(problem, worlds), worlds);
}

}  // namespace

Splits group_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options) {
  const auto count = digits.train.labels.size(0);
  const auto order = torch::randperm(count, seeded(options.seed), torch::kInt64);
  const auto training = options.validation ? count - count / 6 : count;
  Splits splits;
  splits.origin = digits.origin;
  splits.train = group(digits.train, order.slice(0, 0, training), problem, "training");
  if (options.validation) splits.validation = group(digits.train, order.slice(0, training), problem, "validation");
  splits.test = group(digits.test, torch::arange(digits.test.labels.size(0), torch::kInt64), problem, "test");
  return splits;
}

}  // namespace anesi

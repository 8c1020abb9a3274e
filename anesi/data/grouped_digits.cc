#include "anesi/data/grouped_digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/data/shuffled.h"

namespace anesi {
namespace {

ExampleArrays group(const DigitImages& digits, std::span<const std::int64_t> order, const Problem& problem,
                    const char* split) {
  const auto variables = problem.worlds().variables(), examples = std::ssize(order) / variables;
  if (examples == 0) {
    throw Error(fmt::format("{} digits: {} are too few for one example of {}; use fewer digits an example or more data",
                            split, order.size(), variables));
  }
  Points images(PointRows(order.data(), examples, variables)), worlds(examples, variables);
  for (std::int64_t row = 0; row < examples; ++row) {
    std::ranges::transform(images[row], worlds[row].begin(),
                           [&](std::int64_t image) { return digits.labels[as_size(image)]; });
  }
  auto outputs = apply(problem, worlds);
  return {.inputs = digits.images,
          .index = array_of(std::move(images)),
          .outputs = array_of(std::move(outputs)),
          .worlds = array_of(std::move(worlds))};
}

}  // namespace

SplitArrays grouped_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options) {
  const auto count = std::ssize(digits.train.labels);
  const auto order = shuffled(count, options.seed);
  const auto training = as_size(options.validation ? count - count / 6 : count);
  const std::span all(order);
  SplitArrays splits{.origin = digits.origin};
  splits.train = group(digits.train, all.first(training), problem, "training");
  if (options.validation) splits.validation = group(digits.train, all.subspan(training), problem, "validation");
  std::vector<std::int64_t> in_order(digits.test.labels.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  splits.test = group(digits.test, in_order, problem, "test");
  return splits;
}

}  // namespace anesi

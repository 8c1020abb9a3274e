#include "anesi/data/grouped_digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

DigitRows group(const DigitImages& digits, std::span<const std::int64_t> order, const Problem& problem,
                const char* split) {
  const auto variables = problem.worlds().variables(), examples = std::ssize(order) / variables;
  if (examples == 0) {
    throw Error(fmt::format("{} digits: {} are too few for one example of {}; use fewer digits an example or more data",
                            split, order.size(), variables));
  }
  DigitRows rows{Points(PointRows(order.data(), examples, variables)), Points(examples, variables), {}};
  for (std::int64_t row = 0; row < examples; ++row) {
    std::ranges::transform(rows.images[row], rows.worlds[row].begin(),
                           [&](std::int64_t image) { return digits.labels[as_size(image)]; });
  }
  rows.outputs = apply(problem, rows.worlds);
  return rows;
}

// 0 to count - 1 in an order that the seed decides; by the Mersenne Twister, so that the data of earlier versions stay
// what they were.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order(as_size(count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    std::swap(order[place], order[place + random() % (order.size() - place)]);
  }
  return order;
}

}  // namespace

GroupedDigits grouped_digits(const DigitSets& digits, const Problem& problem, const GroupingOptions& options) {
  const auto count = std::ssize(digits.train.labels);
  const auto order = shuffled(count, options.seed);
  const auto training = as_size(options.validation ? count - count / 6 : count);
  const std::span all(order);
  GroupedDigits grouped;
  grouped.train = group(digits.train, all.first(training), problem, "training");
  if (options.validation) grouped.validation = group(digits.train, all.subspan(training), problem, "validation");
  std::vector<std::int64_t> in_order(digits.test.labels.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  grouped.test = group(digits.test, in_order, problem, "test");
  return grouped;
}

}  // namespace anesi

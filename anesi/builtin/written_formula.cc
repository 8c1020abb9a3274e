// Products come before sums, as at school. The function is written down below and described nowhere else: that a
// running sum, the product at hand and its sign are all there is to remember is found by querying it.
#include "anesi/builtin/written_formula.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/data/shuffled.h"

namespace anesi {
namespace {

constexpr std::int64_t kDigits = 10;

// The value of a formula of digits and operators in turn.
std::int64_t value_of(Values symbols) {
  std::int64_t sum = 0, sign = 1, product = symbols[0];
  for (std::size_t place = 1; place < symbols.size(); place += 2) {
    const auto next = symbols[place + 1];
    if (symbols[place] == kTimes) {
      product *= next;
      continue;
    }
    sum += sign * product;
    sign = symbols[place] == kPlus ? 1 : -1;
    product = next;
  }
  return sum + sign * product;
}

std::int64_t power_of_nine(std::int64_t exponent) { return std::llround(std::pow(9.0, static_cast<double>(exponent))); }

Space space_of(std::int64_t symbols) {
  std::vector<std::int64_t> domains;
  for (std::int64_t place = 0; place < symbols; ++place) domains.push_back(place % 2 == 0 ? kDigits : kOperators);
  return Space(std::move(domains));
}

// Formulas whose digits are those of a split, each used once, with operators drawn for them.
ExampleArrays write_formulas(const DigitImages& digits, std::span<const std::int64_t> order, const Problem& problem,
                             std::uint64_t seed) {
  const auto symbols = problem.worlds().variables(), numbers = (symbols + 1) / 2,
             examples = std::ssize(order) / numbers;
  if (examples == 0) throw Error(fmt::format("{} digits are too few for a formula of {}", order.size(), numbers));
  const auto operators = render_operators(examples * (numbers - 1), seed);
  Points index(examples, symbols), worlds(examples, symbols);
  std::size_t digit = 0, drawn = 0;
  for (std::int64_t row = 0; row < examples; ++row) {
    for (std::size_t place = 0; place < as_size(symbols); ++place) {
      if (place % 2 == 0) {
        index[row][place] = order[digit++];
        worlds[row][place] = digits.labels[as_size(index[row][place])];
      } else {
        worlds[row][place] = operators.labels[drawn];
        index[row][place] = std::ssize(digits.labels) + static_cast<std::int64_t>(drawn++);
      }
    }
  }
  auto outputs = apply(problem, worlds);
  return {.inputs = joined(digits.images, operators.images),
          .index = array_of(std::move(index)),
          .outputs = array_of(std::move(outputs)),
          .worlds = array_of(std::move(worlds))};
}

SplitArrays load_formulas(const Problem& problem, const TaskContext& context) {
  const auto digits = context.digits();
  const auto count = std::ssize(digits.train.labels);
  const auto training = as_size(context.validation ? count - count / 6 : count);
  const auto order = shuffled(count, context.seed);
  const std::span all(order);
  SplitArrays splits{.origin = digits.origin};
  splits.train = write_formulas(digits.train, all.first(training), problem, 3 * context.seed);
  if (context.validation) {
    splits.validation = write_formulas(digits.train, all.subspan(training), problem, 3 * context.seed + 1);
  }
  std::vector<std::int64_t> in_order(digits.test.labels.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  splits.test = write_formulas(digits.test, in_order, problem, /*seed=*/1000003);
  return splits;
}

}  // namespace

// -9^(n-1), of 0 - 9 x 9 …
std::int64_t lowest_value(const WrittenFormulaOptions& options) {
  return options.symbols == 1 ? 0 : -power_of_nine((options.symbols - 1) / 2);
}

Builtin written_formula(const WrittenFormulaOptions& options, const TaskContext& context) {
  if (options.symbols % 2 == 0) {
    throw UsageError("task.symbols: a formula begins and ends with a digit; give an odd number");
  }
  const auto lowest = lowest_value(options), highest = power_of_nine((options.symbols + 1) / 2);
  const auto problem =
      make_problem(space_of(options.symbols), Space{highest - lowest + 1},
                   [lowest](Values world, MutableValues output) { output[0] = value_of(world) - lowest; });
  return {.problem = problem, .load = [problem, context] { return load_formulas(*problem, context); }};
}

namespace {
ANESI_BUILTIN(WrittenFormulaOptions, written_formula);
}  // namespace

}  // namespace anesi

// Handwritten formulas: digits and drawn operators + - x, labelled with their value alone.
//
// Products come before sums, as at school. The function is written down below and described nowhere else: that a
// running sum, the product at hand and its sign are all there is to remember is found by asking.
#include <fmt/format.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/formula/operators.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/image_examples.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kDigits = 10;

struct FormulaOptions {
  std::int64_t symbols = 3;
  void describe(OptionTable& table) {
    table.add("symbols", symbols, {1, 9}, "digits and the operators between them; an odd number");
  }
};

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

// Values go from -9^(n-1) (0 - 9 x 9 …) to 9^n, of n digits; outputs count from 0.
struct ValueRange {
  explicit ValueRange(std::int64_t symbols)
      : lowest(symbols == 1 ? 0 : -power((symbols - 1) / 2)), count(power((symbols + 1) / 2) - lowest + 1) {}
  static std::int64_t power(std::int64_t exponent) {
    return std::llround(std::pow(9.0, static_cast<double>(exponent)));
  }

  std::int64_t lowest, count;
};

Space spaces_of(std::int64_t symbols) {
  std::vector<std::int64_t> domains;
  for (std::int64_t place = 0; place < symbols; ++place) domains.push_back(place % 2 == 0 ? kDigits : kOperators);
  return Space(std::move(domains));
}

// One network for digits and one for operators; it is known which is where.
class FormulaReader final : public Perception {
 public:
  FormulaReader() {
    register_module("digits", digits_);
    register_module("operators", operators_);
  }

  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto digits = digits_->forward(inputs.slice(1, 0, std::nullopt, 2));
    if (inputs.size(1) == 1) return digits;
    const auto signs =
        torch::constant_pad_nd(operators_->forward(inputs.slice(1, 1, std::nullopt, 2)), {0, kDigits - kOperators});
    auto beliefs = torch::zeros({inputs.size(0), inputs.size(1), kDigits}, digits.options());
    const auto even = torch::arange(0, inputs.size(1), 2, torch::kInt64),
               odd = torch::arange(1, inputs.size(1), 2, torch::kInt64);
    return beliefs.index_copy(1, even, digits).index_copy(1, odd, signs);
  }

 private:
  std::shared_ptr<LeNet> digits_ = std::make_shared<LeNet>(kDigits), operators_ = std::make_shared<LeNet>(kOperators);
};

class FormulaOnPaper final : public Presentation {
 public:
  explicit FormulaOnPaper(std::int64_t lowest) : lowest_(lowest) {}

  std::string world(Values world) const override {
    std::string text;
    for (std::size_t place = 0; place < world.size(); ++place) {
      text += fmt::format("{}{}", place == 0 ? "" : " ", value(static_cast<std::int64_t>(place), world[place]));
    }
    return text;
  }
  std::string value(std::int64_t variable, std::int64_t value) const override {
    return variable % 2 == 0 ? std::to_string(value) : fmt::format("{}", "+-x"[value]);
  }
  std::string output(Values output) const override { return std::to_string(output[0] + lowest_); }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    std::size_t end = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(text, &end);
    } catch (const std::logic_error&) {
      end = 0;
    }
    if (text.empty() || end != text.size())
      throw UsageError(fmt::format("output '{}': a value here is a number", text));
    return {value - lowest_};
  }

 private:
  std::int64_t lowest_;
};

// Formulas whose digits are those of a split, each used once, with operators drawn for them.
std::shared_ptr<const Examples> write_formulas(const DigitImages& digits, const torch::Tensor& order,
                                               const Problem& problem, std::uint64_t seed) {
  const auto symbols = problem.worlds().variables(), numbers = (symbols + 1) / 2, examples = order.size(0) / numbers;
  if (examples == 0) throw Error(fmt::format("{} digits are too few for a formula of {}", order.size(0), numbers));
  const auto operators = render_operators(examples * (numbers - 1), seed);
  const auto even = torch::arange(0, symbols, 2, torch::kInt64), odd = torch::arange(1, symbols, 2, torch::kInt64);
  auto index = torch::empty({examples, symbols}, torch::kInt64), worlds = torch::empty_like(index);
  const auto used = order.slice(0, 0, examples * numbers).view({examples, numbers});
  index.index_copy_(1, even, used);
  worlds.index_copy_(1, even,
                     tensor_of(Values(digits.labels)).index_select(0, used.reshape(-1)).view({examples, numbers}));
  if (numbers > 1) {
    const auto drawn = torch::arange(operators.labels.size(0), torch::kInt64).view({examples, numbers - 1});
    index.index_copy_(1, odd, drawn + std::ssize(digits.labels));
    worlds.index_copy_(1, odd, operators.labels.view({examples, numbers - 1}));
  }
  return std::make_shared<ImageExamples>(torch::cat({tensor_of(digits.images), operators.images}), index,
                                         apply(problem, worlds), worlds);
}

Task make_formula(const FormulaOptions& options, const TaskContext& context) {
  if (options.symbols % 2 == 0)
    throw UsageError("task.symbols: a formula begins and ends with a digit; give an odd number");
  const ValueRange range(options.symbols);
  const auto problem =
      make_problem(spaces_of(options.symbols), Space{range.count},
                   [range](Values world, MutableValues output) { output[0] = value_of(world) - range.lowest; });
  Task task;
  task.problem = problem;
  task.make_perception = [] { return std::make_shared<FormulaReader>(); };
  task.presentation = std::make_shared<FormulaOnPaper>(range.lowest);
  task.load = [problem, context] {
    const auto digits = context.digits();
    const auto count = std::ssize(digits.train.labels), training = context.validation ? count - count / 6 : count;
    const auto order = torch::randperm(count, seeded(context.seed), torch::kInt64);
    Splits splits;
    splits.origin = digits.origin;
    splits.train = write_formulas(digits.train, order.slice(0, 0, training), *problem, 3 * context.seed);
    if (context.validation) {
      splits.validation = write_formulas(digits.train, order.slice(0, training), *problem, 3 * context.seed + 1);
    }
    const auto test = torch::arange(std::ssize(digits.test.labels), torch::kInt64);
    splits.test = write_formulas(digits.test, test, *problem, /*seed=*/1000003);
    return splits;
  };
  return task;
}

const std::vector<Preset> kPresets{
    {"default",
     "perception through exact inference in the memory that is found",
     {"q.architecture=auto", "discover.seconds=60", "train.epochs=12", "train.lr=0.003", "train.schedule=one_cycle",
      "train.weight_decay=0.05", "train.smoothing=0.05", "train.evaluate_every=3"}}};

ANESI_TASK("formula", "the value of a handwritten formula of digits and + - x, from the value alone", FormulaOptions,
           kPresets, make_formula);

}  // namespace
}  // namespace anesi

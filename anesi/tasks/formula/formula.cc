// Handwritten formulas: digits and drawn operators + - x, labelled with their value alone (builtin/written_formula.cc).
#include "anesi/builtin/written_formula.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

constexpr std::int64_t kDigits = 10;

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

Task make_formula(const WrittenFormulaOptions& options, const TaskContext& context) {
  auto task = task_of(written_formula(options, context));
  task.make_perception = [] { return std::make_shared<FormulaReader>(); };
  task.presentation = std::make_shared<FormulaOnPaper>(lowest_value(options));
  return task;
}

const std::vector<Preset> kPresets{
    {"default",
     "perception through exact inference in the memory that is found",
     {"q.architecture=auto", "discover.seconds=60", "train.epochs=12", "train.lr=0.003", "train.schedule=one_cycle",
      "train.weight_decay=0.05", "train.smoothing=0.05", "train.evaluate_every=3"}}};

ANESI_TASK(WrittenFormulaOptions::kName, WrittenFormulaOptions::kSummary, WrittenFormulaOptions, kPresets,
           make_formula);

}  // namespace
}  // namespace anesi

#include "anesi/train/kinds.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/exact_model.h"

namespace anesi {
namespace {

constexpr std::int64_t kValues = 4;

// Three variables of four values; the output says which is largest, the first of equal ones.
std::unique_ptr<Problem> largest_of_three() {
  return make_problem(Space::uniform(3, kValues), Space{3}, [](Values world, MutableValues output) {
    output[0] = std::max_element(world.begin(), world.end()) - world.begin();
  });
}

// Sees a number that stands for the value, a little blurred, and mistakes two of the values.
class Mistaken final : public Perception {
 public:
  torch::Tensor features(const torch::Tensor& inputs) override { return inputs.unsqueeze(2); }
  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto value = inputs.round().to(torch::kInt64);
    const auto renamed = torch::where(value == 2, torch::full_like(value, 3), value);
    return torch::one_hot(renamed, kValues).to(torch::kFloat32) * 0.9 + 0.1 / kValues;
  }
  bool separable() const override { return true; }
};

// The same from pixels: 0, 85, 170, 255 come out as -1 to 1 and are mapped back.
class FromPixels final : public Perception {
 public:
  torch::Tensor features(const torch::Tensor& inputs) override { return seen_.features(numbers(inputs)); }
  torch::Tensor forward(const torch::Tensor& inputs) override { return seen_.forward(numbers(inputs)); }

 private:
  static torch::Tensor numbers(const torch::Tensor& inputs) { return (inputs.flatten(2).squeeze(2) + 1) * 1.5; }
  Mistaken seen_;
};

Dataset drawn(const Problem& problem) {
  Dataset data;
  data.worlds = torch::randint(kValues, {400, 3}, seeded(1), torch::kInt64);
  data.pool = (data.worlds.view(-1) * 85).to(torch::kUInt8).view({-1, 1, 1});
  data.index = torch::arange(data.worlds.numel()).view({400, 3});
  data.outputs = problem.apply_batch(data.worlds);
  return data;
}

TEST(Kinds, FindTheValuesThatExplainAllLabelsAtOnce) {
  const auto problem = largest_of_three();
  const auto data = drawn(*problem);
  FromPixels perception;
  const auto found = explain_by_kinds(*problem, perception, data, {.count = 4, .examples = 400}, seeded(2));
  EXPECT_GT(found.cost_before, 0.02);
  EXPECT_EQ(found.cost, 0);
  EXPECT_TRUE(torch::equal(found.worlds, data.worlds.index_select(0, found.rows)));
}

TEST(Kinds, AreFoundByWhatQSaysAlone) {
  const auto problem = largest_of_three();
  const auto data = drawn(*problem);
  FromPixels perception;
  const auto exact = make_exact_model(*problem, "enumerate", 60);
  const QJudge judge{*exact.prediction,
                     [&](const torch::Tensor& rows, const at::Generator&) { return data.batch(rows); }};
  const KindsOptions options{.judge = "q", .count = 4, .examples = 400, .asked = 300};
  const auto found = explain_by_kinds(*problem, perception, data, options, seeded(2), &judge);
  EXPECT_LT(found.cost, 0.01);  // nats an example: nearly certain beliefs give nearly certain outputs
  EXPECT_GT(found.cost_before, 10 * found.cost);
  EXPECT_TRUE(torch::equal(found.worlds, data.worlds.index_select(0, found.rows)));
  EXPECT_THROW(explain_by_kinds(*problem, perception, data, options, seeded(2)), UsageError);
}

TEST(Kinds, NeedFeatures) {
  class Blind final : public Perception {
   public:
    torch::Tensor forward(const torch::Tensor& inputs) override {
      return torch::full({inputs.size(0), 3, kValues}, 1.0 / kValues);
    }
  };
  Dataset data;
  data.pool = torch::zeros({1, 1, 1}, torch::kUInt8);
  data.index = torch::zeros({2, 3}, torch::kInt64);
  data.outputs = torch::zeros({2, 1}, torch::kInt64);
  data.worlds = torch::zeros({2, 3}, torch::kInt64);
  Blind blind;
  EXPECT_THROW(explain_by_kinds(*largest_of_three(), blind, data, {}, seeded(1)), UsageError);
}

}  // namespace
}  // namespace anesi

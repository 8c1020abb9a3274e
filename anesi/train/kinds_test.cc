#include "anesi/train/kinds.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kValues = 4;

// Three variables of four values; the output says which is largest, the first of equal ones.
std::shared_ptr<const Problem> largest_of_three() {
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

// 400 examples whose inputs are the values themselves.
Learner learner_of_numbers() {
  const auto problem = largest_of_three();
  const auto worlds = torch::randint(kValues, {400, 3}, seeded(1), torch::kInt64);
  return {problem, [] { return std::make_shared<Mistaken>(); },
          tensor_examples(worlds.to(torch::kFloat32), apply(*problem, worlds), worlds), /*seed=*/1};
}

TEST(Kinds, FindTheValuesThatExplainAllLabelsAtOnce) {
  const auto learner = learner_of_numbers();
  const auto found = explain_by_kinds(learner, {.count = 4, .examples = 400}, seeded(2));
  EXPECT_GT(found.cost_before, 0.02);
  EXPECT_EQ(found.cost, 0);
  EXPECT_TRUE(torch::equal(found.worlds, learner.training->worlds().index_select(0, found.rows)));
}

TEST(Kinds, KeepWhatLabelsTellOfTheWorld) {
  auto learner = learner_of_numbers();
  auto labels = learner.training->labels();
  labels.worlds = torch::full({400, 3}, kUnset);
  labels.worlds.select(1, 0).fill_(3);
  labels.outputs = torch::zeros({400, 1}, torch::kInt64);
  learner.training = tensor_examples(learner.training->inputs(torch::arange(400)), labels);
  const auto found = explain_by_kinds(learner, {.count = 4, .examples = 400}, seeded(2));
  EXPECT_TRUE((found.worlds.select(1, 0) == 3).all().item<bool>());
  EXPECT_EQ(found.cost, 0) << "with the largest value first, the first is largest whatever the others are";
}

TEST(Kinds, AreFoundByWhatQSaysAlone) {
  auto learner = learner_of_numbers();
  const KindsOptions options{.judge = KindsJudge::kQ, .count = 4, .examples = 400, .asked = 300};
  EXPECT_THROW(explain_by_kinds(learner, options, seeded(2)), UsageError) << "there is no q";
  learner.model = make_exact_model(*learner.problem, {.method = "enumerate"});
  const auto found = explain_by_kinds(learner, options, seeded(2));
  EXPECT_LT(found.cost, 0.01);  // nats an example: nearly certain beliefs give nearly certain outputs
  EXPECT_GT(found.cost_before, 10 * found.cost);
  EXPECT_TRUE(torch::equal(found.worlds, learner.training->worlds().index_select(0, found.rows)));
  learner.through_q = false;
  EXPECT_THROW(explain_by_kinds(learner, options, seeded(2)), UsageError) << "what it says means nothing";
}

TEST(Kinds, NeedFeatures) {
  class Blind final : public Perception {
   public:
    torch::Tensor forward(const torch::Tensor& inputs) override {
      return torch::full({inputs.size(0), 3, kValues}, 1.0 / kValues);
    }
  };
  const auto worlds = torch::zeros({2, 3}, torch::kInt64);
  const Learner learner(
      largest_of_three(), [] { return std::make_shared<Blind>(); },
      tensor_examples(worlds.to(torch::kFloat32), torch::zeros({2, 1}, torch::kInt64), worlds));
  EXPECT_THROW(explain_by_kinds(learner, {}, seeded(1)), UsageError);
}

}  // namespace
}  // namespace anesi

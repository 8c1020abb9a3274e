#include "anesi/models/set_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "anesi/models/sample.h"
#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// What holds for every architecture is tested in models_test.cc.

SetOptions small_set() {
  SetOptions options;
  options.width = 16;
  options.heads = 2;
  return options;
}

// Every order of so many variables, int64 [orders, variables].
torch::Tensor all_orders(std::int64_t variables) {
  auto order = values_of(torch::arange(variables, torch::kInt64));
  std::vector<torch::Tensor> orders;
  do {
    orders.push_back(tensor_of(order));
  } while (std::ranges::next_permutation(order).found);
  return torch::stack(orders);
}

class SetOfThree : public testing::Test {
 protected:
  SetOfThree() {
    torch::manual_seed(seed_);
    model_ = std::make_shared<SetModel>(worlds_, outputs_, /*explains=*/true, small_set());
    model_->eval();
  }
  // The same beliefs and outputs in every row.
  Context context(std::int64_t rows) const {
    return {beliefs_.expand({rows, -1, -1}), torch::tensor({1, 0}, torch::kInt64).expand({rows, -1})};
  }

  const toys::RandomSeed seed_;
  Space worlds_{2, 4, 3}, outputs_{3, 2};
  torch::Tensor beliefs_ = toys::random_beliefs(1, worlds_, 1, seeded(seed_)).to(torch::kFloat32);
  std::shared_ptr<SetModel> model_;
};

TEST_F(SetOfThree, SumsToOneInEveryOrder) {
  const torch::NoGradGuard no_gradients;
  const auto points = points_of(worlds_);
  for (const auto& order : all_orders(3).unbind(0)) {
    const auto log_prob = model_->log_prob_in(context(points.size(0)), points, order.unsqueeze(0));
    EXPECT_NEAR(log_prob.exp().sum().item<double>(), 1, 1e-5);
  }
}

// What is said of a variable follows from what is chosen alone: going through an order by asking for conditionals of
// sets, which know no order, gives the order's log-probability.
TEST_F(SetOfThree, SeesWhatWasChosenAsASet) {
  const torch::NoGradGuard no_gradients;
  const auto orders = all_orders(3);
  const auto world = torch::tensor({1, 2, 0}, torch::kInt64);
  for (const auto& order : orders.unbind(0)) {
    auto partial = torch::full({1, 3}, kUnset, torch::kInt64);
    double total = 0;
    for (const auto variable : values_of(order)) {
      const auto said = model_->conditionals(context(1), partial)[0][variable];
      EXPECT_NEAR(said.exp().sum().item<double>(), 1, 1e-5);
      EXPECT_EQ(said.isfinite().sum().item<std::int64_t>(), worlds_.domain(variable));
      total += said[world[variable].item<std::int64_t>()].item<double>();
      partial[0][variable] = world[variable];
    }
    const auto whole = model_->log_prob_in(context(1), world.unsqueeze(0), order.unsqueeze(0));
    EXPECT_NEAR(whole.item<double>(), total, 1e-4);
  }
}

TEST_F(SetOfThree, HasAnotherOrderForEachUpdateAndOneAtRest) {
  const std::vector<std::int64_t> at_rest{0, 1, 2};
  std::set<std::vector<std::int64_t>> orders;
  for (int update = 0; update < 60; ++update) {
    model_->train();
    orders.insert(model_->order());
    // Rollouts go by the order of the update.
    const auto drawn = sample(*model_, context(4), seeded(update));
    const auto order = tensor_of(model_->order()).unsqueeze(0);
    EXPECT_TRUE(torch::allclose(drawn.log_prob, model_->log_prob_in(context(4), drawn.values, order), 1e-4, 1e-4));
    model_->eval();
    EXPECT_EQ(model_->order(), at_rest);
  }
  EXPECT_GT(orders.size(), 3U);
}

TEST(SetModel, KeepsTheOrderOfTheVariablesWhereItIsTold) {
  auto options = small_set();
  options.any_order = false;
  SetModel ordered({2, 2, 2, 2}, {2}, /*explains=*/true, options), prediction({2}, {2, 2, 2, 2}, false, small_set());
  for (auto* model : {&ordered, &prediction}) {
    model->train();
    EXPECT_EQ(model->order(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  }
}

// Three bits and how many of them are 1, so that in every order the last is decided by the others; beliefs are fair.
TEST(SetModel, LearnsEveryOrderAtOnce) {
  torch::manual_seed(4);
  const Space worlds = Space::uniform(3, 2), outputs{4};
  SetModel model(worlds, outputs, /*explains=*/true, small_set());
  Adam optimizer(model.parameters());
  const auto points = points_of(worlds).repeat({4, 1});
  const Context context(uniform_beliefs(points.size(0), worlds), points.sum(1, /*keepdim=*/true));
  constexpr std::int64_t kSteps = 500;
  const Schedule schedule{.lr = 5e-3, .shape = Shape::kCosine};
  for (std::int64_t step = 0; step < kSteps; ++step) {
    optimizer.zero_gradients();
    (-model.log_prob(context, points).mean()).backward();
    optimizer.step(schedule.at(step, kSteps).learning_rate);
  }
  model.eval();
  const torch::NoGradGuard no_gradients;
  const auto worlds_of_output = torch::tensor({1., 3., 3., 1.}).index_select(0, context.outputs.flatten());
  for (const auto& order : all_orders(3).unbind(0)) {
    const auto log_prob = model.log_prob_in(context, points, order.unsqueeze(0));
    EXPECT_LT((log_prob.exp() - 1 / worlds_of_output).abs().max().item<double>(), 0.1) << order;
  }
}

TEST(SetModel, RefusesAWidthThatHeadsDoNotShareOut) {
  auto options = small_set();
  options.heads = 3;
  EXPECT_THROW(SetModel({2}, {2}, /*explains=*/false, options), UsageError);
}

}  // namespace
}  // namespace anesi

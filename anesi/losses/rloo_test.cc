#include "anesi/losses/rloo.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/expected_distance.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

TEST(Rloo, EstimatesTheGradientOfTheExpectedDistance) {
  const auto addition = std::make_shared<toys::Addition>(1);
  const auto logits = torch::randn({1, 2, 10}, seeded(1)).requires_grad_();
  const auto outputs = torch::tensor({{1, 3}});
  const auto exact =
      torch::autograd::grad({toys::expected_distance(*addition, logits.softmax(2), outputs)}, {logits})[0];
  RlooLoss rloo(addition, {.samples = 20000}, seeded(2));
  const auto loss = rloo.loss(logits.softmax(2), outputs);
  const auto estimate = torch::autograd::grad({loss}, {logits})[0];
  EXPECT_NEAR(loss.item<double>(), toys::expected_distance(*addition, logits.softmax(2), outputs).item<double>(), 0.01);
  EXPECT_LT((estimate - exact).abs().max().item<double>(), 0.01);
  EXPECT_GT(exact.abs().max().item<double>(), 0.03);
}

TEST(Rloo, RefusesLabelsThatAreNoGoal) {
  const auto addition = std::make_shared<toys::Addition>(1);
  RlooLoss rloo(addition, {}, seeded(3));
  const auto beliefs = uniform_beliefs(2, addition->worlds());
  const auto outputs = torch::tensor({{1, 3}, {0, 4}});
  EXPECT_THROW(rloo.loss(beliefs, {outputs, torch::tensor({false, false})}), UsageError);
  EXPECT_THROW(rloo.loss(beliefs, {outputs, torch::tensor({true, false})}), UsageError);
  Observations worlds_too(outputs);
  worlds_too.worlds = torch::tensor({{6, 7}, {2, 2}});
  EXPECT_THROW(rloo.loss(beliefs, worlds_too), UsageError);
}

// Labels that say of each output that it holds say what the outputs are.
TEST(Rloo, TakesLabelsThatAllHold) {
  const auto addition = std::make_shared<toys::Addition>(1);
  const auto beliefs = uniform_beliefs(2, addition->worlds());
  const auto outputs = torch::tensor({{1, 3}, {0, 4}});
  RlooLoss plain(addition, {}, seeded(3)), all_hold(addition, {}, seeded(3));
  EXPECT_TRUE(
      torch::equal(plain.loss(beliefs, outputs), all_hold.loss(beliefs, {outputs, torch::tensor({true, true})})));
}

}  // namespace
}  // namespace anesi

#include "anesi/core/observations.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anesi {
namespace {

TEST(Observations, AnOutputThatDoesNotHoldHasTheRestOfTheProbability) {
  const auto log_prob = torch::tensor({0.75, 0.75, 1e-40, 1 - 1e-12}, torch::kFloat64).log();
  const Observations seen(torch::zeros({4, 1}, torch::kInt64), torch::tensor({true, false, false, false}));
  const auto result = seen.log_prob(log_prob);
  EXPECT_NEAR(result[0].item<double>(), std::log(0.75), 1e-12);
  EXPECT_NEAR(result[1].item<double>(), std::log(0.25), 1e-12);
  EXPECT_NEAR(result[2].item<double>(), -1e-40, 1e-45);
  EXPECT_NEAR(result[3].item<double>(), std::log(1e-12), 1e-3);
}

TEST(Observations, CertaintyOfWhatDoesNotHoldIsBadButFiniteAndPushesAway) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const auto log_prob = torch::tensor({0.0, -1e-9, -95.0, -std::log(2.0)}, type).requires_grad_();
    const Observations seen(torch::zeros({4, 1}, torch::kInt64), torch::zeros({4}, torch::kBool));
    const auto loss = -seen.log_prob(log_prob);
    loss.sum().backward();
    EXPECT_TRUE(loss.isfinite().all().item<bool>()) << loss;
    EXPECT_TRUE(log_prob.grad().isfinite().all().item<bool>()) << log_prob.grad();
    EXPECT_GT(loss[0].item<double>(), 10);
    for (const int certain : {0, 1}) EXPECT_GT(log_prob.grad()[certain].item<double>(), 1e6);
    EXPECT_NEAR(log_prob.grad()[3].item<double>(), 1, 1e-4);  // p / (1 - p) at one half
  }
}

TEST(Observations, PredictionsAgreeWhereTheyAreTheOutputThatHoldsOrAnotherThanTheOneThatDoesNot) {
  const auto outputs = torch::tensor({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, torch::kInt64);
  const auto predicted = torch::tensor({{1, 1}, {0, 1}, {1, 1}, {0, 1}}, torch::kInt64);
  const Observations seen(outputs, torch::tensor({true, true, false, false}));
  EXPECT_TRUE(torch::equal(seen.agree(predicted), torch::tensor({true, false, false, true})));
  EXPECT_TRUE(torch::equal(Observations(outputs).agree(predicted), torch::tensor({true, false, true, false})));
}

}  // namespace
}  // namespace anesi

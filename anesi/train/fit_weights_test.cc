#include "anesi/train/fit_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/check/markov_check.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/soft_formulas.h"
#include "anesi/train/formula_training.h"

namespace anesi {
namespace {

// Two clauses of their own variables each: weights and errors are known in closed form.
TEST(FitWeights, OfIndependentClausesIsTheLogitOfHowOftenTheyHold) {
  const MarkovInference logic(parse_wcnf("1 1 0\n1 2 0\n", "f"));
  const auto worlds = torch::tensor({{1, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 0}}, torch::kInt64);
  const auto fitted = fit_weights(logic, worlds, {}, {}, 0);
  EXPECT_TRUE(fitted.converged);
  const std::vector<double> shares{0.75, 0.25};
  for (std::int64_t clause = 0; clause < 2; ++clause) {
    const auto share = shares[static_cast<std::size_t>(clause)];
    EXPECT_NEAR(fitted.weights[clause].item<double>(), std::log(share / (1 - share)), 1e-5);
    EXPECT_NEAR(fitted.errors[clause].item<double>(), 1 / std::sqrt(8 * share * (1 - share)), 1e-5);
  }
  EXPECT_NEAR(fitted.log_likelihood, 2 * (0.75 * std::log(0.75) + 0.25 * std::log(0.25)), 1e-6);
}

TEST(FitWeights, BeliefsAreTakenIntoAccount) {
  // One variable that is believed with probability p and weighs w is true with that of logit(p) + w.
  const MarkovInference logic(parse_wcnf("1 1 0\n", "f"));
  const auto worlds = torch::tensor({{1}, {1}, {1}, {0}}, torch::kInt64);
  const auto beliefs = torch::tensor({{{0.2, 0.8}}}, torch::kFloat64).expand({4, -1, -1});
  const auto fitted = fit_weights(logic, worlds, beliefs, {}, 0);
  EXPECT_NEAR(fitted.weights.item<double>(), std::log(3) - std::log(4), 1e-5);
}

TEST(FitWeights, APriorKeepsWeightsFinite) {
  const MarkovInference logic(parse_wcnf("1 1 0\n", "f"));
  const auto worlds = torch::ones({50, 1}, torch::kInt64);
  EXPECT_TRUE(
      toys::names(toys::message_of([&] { fit_weights(logic, worlds, {}, {}, 0); }), {"soft clause 1", "deviation"}));
  const auto fitted = fit_weights(logic, worlds, {}, {.deviation = 1}, 0);
  const auto weight = fitted.weights.item<double>();
  EXPECT_NEAR(50 * (1 - 1 / (1 + std::exp(-weight))), weight, 1e-3);  // where both slopes meet
}

TEST(FitWeights, ClausesOfOneWeightShareIt) {
  const MarkovInference logic(parse_wcnf("1 1 0\n1 2 0\n2 3 0\n", "f"));
  const auto worlds = torch::tensor({{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 0}}, torch::kInt64);
  const auto fitted = fit_weights(logic, worlds, {}, {.tied = true}, 0);
  EXPECT_NEAR(fitted.weights[0].item<double>(), std::log(5.0 / 3), 1e-5);
  EXPECT_NEAR(fitted.weights[1].item<double>(), std::log(5.0 / 3), 1e-5);
  EXPECT_NEAR(fitted.weights[2].item<double>(), -std::log(3), 1e-5);
  EXPECT_NEAR(fitted.errors[0].item<double>(), 1 / std::sqrt(8 * 15.0 / 64), 1e-5);
}

TEST(FitWeights, WhatTheDataCannotTellIsNamed) {
  const auto complaint = [](const char* text, const torch::Tensor& worlds, const torch::Tensor& beliefs = {}) {
    const MarkovInference logic(parse_wcnf(text, "f"));
    return toys::message_of([&] { fit_weights(logic, worlds, beliefs, {}, 0); });
  };
  const auto worlds = torch::tensor({{1, 0}, {0, 0}, {1, 1}}, torch::kInt64);
  EXPECT_TRUE(toys::names(complaint("1 1 0\n1 2 0\n1 -1 0\n", worlds), {"soft clause"}));
  EXPECT_TRUE(toys::names(complaint("h -2 0\n1 1 0\n", worlds), {"world 3"}));
  EXPECT_TRUE(toys::names(complaint("1 1 0\n1 2 0\n", worlds.slice(1, 0, 1)), {"worlds", "2"}));
  auto beliefs = torch::full({3, 2, 2}, 0.5);
  EXPECT_TRUE(toys::names(complaint("1 1 0\n1 2 0\n", worlds, beliefs.slice(0, 0, 2)), {"2", "3"}));
  beliefs[1] = torch::tensor({{0.0, 1.0}, {0.5, 0.5}});
  EXPECT_TRUE(toys::names(complaint("1 1 0\n1 2 0\n", worlds, beliefs), {"world 2"}));
}

TEST(FitWeights, FindsWeightsAgainInAllThreeWays) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  const auto network = soft_network({.width = 0, .cases = 64});  // exact but for rounding where so much is split
  const MarkovInference logic(parse_wcnf("h 1 2 -3 0\n1 1 2 0\n-0.5 2 3 0\n0.7 -3 4 0\n-1 -4 5 0\n0.4 1 5 0\n", "f"));
  const auto truth = logic.weights();
  const auto beliefs = uniform_beliefs(10000, logic.worlds());
  const auto worlds = logic.exact().sample(beliefs, truth, generator);
  const auto exact = fit_weights(logic, worlds, {}, {}, seed);
  EXPECT_LT(((exact.weights - truth) / exact.errors).abs().max().item<double>(), 5);
  const auto sampled = fit_weights(logic, worlds, {}, {.by = PartitionBy::kSampling, .samples = 100000}, seed, network);
  EXPECT_LT(((sampled.weights - exact.weights) / exact.errors).abs().max().item<double>(), 2);
  EXPECT_TRUE(sampled.converged);
  const auto learned = fit_weights(logic, worlds, {}, {.by = PartitionBy::kQ}, seed, network);
  EXPECT_LT(((learned.weights - exact.weights) / exact.errors).abs().max().item<double>(), 0.5);
  EXPECT_TRUE(torch::allclose(learned.errors, exact.errors, 0.05, 0));
}

TEST(FitWeights, StandardErrorsAreRight) {
  const toys::RandomSeed seed;
  const auto found =
      check_recovery(random_soft_formulas(60), /*formulas=*/6, /*worlds=*/3000, /*with_beliefs=*/false, {}, seed);
  EXPECT_EQ(found.formulas, 6);
  EXPECT_GT(found.within_two, 0.8);
  EXPECT_LT(found.most_errors, 6);
}

TEST(SoftFormulaTraining, LearnsWhatBeliefPropagationMisses) {
  const SeededWeights seeded_weights(1);
  // Three variables that all should differ, asked without cases: belief propagation goes around in circles.
  const auto logic = std::make_shared<const MarkovInference>(
      parse_wcnf("4 1 2 0\n4 -1 -2 0\n4 2 3 0\n4 -2 -3 0\n4 1 3 0\n4 -1 -3 0\n", "f"));
  const auto draw = [&](std::mt19937_64&) { return SoftFormula{logic, logic->weights()}; };
  const auto error_of = [&](const std::shared_ptr<GraphNetwork>& network) {
    return check_soft_counts(network, draw, 40, 100, 7).predicted_mean;
  };
  const auto network = soft_network({.cases = 1});
  const auto before = error_of(network);
  train_on_soft_formulas(network, draw, {.steps = 150, .worlds = 64}, 1);
  EXPECT_LT(error_of(network), before / 2) << before;
}

}  // namespace
}  // namespace anesi

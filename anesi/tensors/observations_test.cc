#include "anesi/tensors/observations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/space.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/testing/random.h"

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

TEST(Observations, RowsTakeEachPartThatIsThere) {
  Observations seen(torch::tensor({{1}, {2}, {3}}), torch::tensor({true, false, true}));
  seen.worlds = torch::tensor({{0, 1}, {1, 1}, {1, 0}});
  const auto some = seen.rows(torch::tensor({2, 0, 2}));
  EXPECT_EQ(some.size(), 3);
  EXPECT_TRUE(torch::equal(some.outputs, torch::tensor({{3}, {1}, {3}})));
  EXPECT_TRUE(torch::equal(some.holds, torch::tensor({true, true, true})));
  EXPECT_TRUE(torch::equal(some.worlds, torch::tensor({{1, 0}, {0, 1}, {1, 0}})));
  EXPECT_TRUE(torch::equal(seen.rows_that_hold(), torch::tensor({0, 2})));

  const auto plain = Observations(torch::tensor({{1}, {2}})).rows(torch::tensor({1}));
  EXPECT_FALSE(plain.holds.defined() || plain.worlds.defined());
  EXPECT_TRUE(torch::equal(Observations(torch::tensor({{1}, {2}})).rows_that_hold(), torch::tensor({0, 1})));

  Observations worlds_alone;
  EXPECT_EQ(worlds_alone.size(), 0);
  worlds_alone.worlds = seen.worlds;
  EXPECT_EQ(worlds_alone.size(), 3);
  EXPECT_FALSE(worlds_alone.rows(torch::tensor({1})).outputs.defined());
  EXPECT_TRUE(torch::equal(worlds_alone.rows(torch::tensor({1})).worlds, torch::tensor({{1, 1}})));
}

TEST(Observations, ClampedBeliefsAreCertainOfWhatIsKnownAndTheSameElsewhere) {
  const toys::RandomSeed seed;
  const Space worlds{2, 3, 3};
  auto beliefs = toys::random_beliefs(3, worlds, 1, seeded(seed)).requires_grad_();
  const auto known = torch::tensor({{1L, kUnset, 0L}, {kUnset, kUnset, kUnset}, {0L, 2L, 1L}});
  const auto result = clamped(beliefs, known);
  check_beliefs(result, worlds);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t variable = 0; variable < 3; ++variable) {
      const auto value = known[row][variable].item<std::int64_t>();
      const auto expected = value == kUnset ? beliefs[row][variable] : torch::zeros({3}, torch::kFloat64);
      for (std::int64_t place = 0; place < 3; ++place) {
        EXPECT_EQ(result[row][variable][place].item<double>(), place == value ? 1 : expected[place].item<double>());
      }
    }
  }
  // Gradients flow to what is not known, alone.
  const auto weights = torch::arange(1, 28).to(torch::kFloat64).view({3, 3, 3});
  (result * weights).sum().backward();
  const auto said = (known != kUnset).unsqueeze(2);
  EXPECT_TRUE(torch::equal(beliefs.grad(), weights.masked_fill(said, 0)));
}

TEST(Observations, KnownVariablesHaveTheProductOfTheirProbabilities) {
  const toys::RandomSeed seed;
  const Space worlds{2, 3, 3};
  auto beliefs = toys::random_beliefs(3, worlds, 1, seeded(seed)).requires_grad_();
  const auto known = torch::tensor({{1L, kUnset, 0L}, {kUnset, kUnset, kUnset}, {0L, 2L, 1L}});
  const auto result = known_log_prob(beliefs, known);
  const auto p = [&](std::int64_t row, std::int64_t variable, std::int64_t value) {
    return beliefs[row][variable][value].item<double>();
  };
  EXPECT_NEAR(result[0].item<double>(), std::log(p(0, 0, 1) * p(0, 2, 0)), 1e-12);
  EXPECT_EQ(result[1].item<double>(), 0);
  EXPECT_NEAR(result[2].item<double>(), world_log_prob(beliefs.slice(0, 2), known.slice(0, 2)).item<double>(), 1e-12);
  // The derivative by a known value's probability is one over it, and nothing elsewhere.
  result.sum().backward();
  auto expected = torch::zeros({3, 3, 3}, torch::kFloat64);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t variable = 0; variable < 3; ++variable) {
      const auto value = known[row][variable].item<std::int64_t>();
      if (value != kUnset) expected[row][variable][value] = 1 / p(row, variable, value);
    }
  }
  EXPECT_TRUE(torch::allclose(beliefs.grad(), expected, 1e-12, 1e-12));
}

TEST(Observations, WhatIsImpossibleHasNoProbabilityAndSpoilsNoOtherRow) {
  auto beliefs =
      torch::tensor({{{1.0, 0.0}, {0.5, 0.5}}, {{0.25, 0.75}, {0.5, 0.5}}}, torch::kFloat64).requires_grad_();
  const auto result = known_log_prob(beliefs, torch::tensor({{1L, kUnset}, {1L, kUnset}}));
  EXPECT_EQ(result[0].item<double>(), -INFINITY);
  EXPECT_NEAR(result[1].item<double>(), std::log(0.75), 1e-12);
  result[1].backward();
  EXPECT_TRUE(beliefs.grad()[1].isfinite().all().item<bool>()) << beliefs.grad();
}

}  // namespace
}  // namespace anesi

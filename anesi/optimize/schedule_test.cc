#include "anesi/optimize/schedule.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(Schedule, AConstantStaysAsItIs) {
  const Schedule schedule{.lr = 0.3};
  for (const std::int64_t step : {0, 1, 50, 99}) {
    EXPECT_DOUBLE_EQ(schedule.at(step, 100).learning_rate, 0.3);
    EXPECT_DOUBLE_EQ(schedule.at(step, 100).beta1, 0.9);
  }
}

TEST(Schedule, ACosineFallsToTwoPercent) {
  const Schedule schedule{.lr = 0.3, .shape = Shape::kCosine};
  EXPECT_DOUBLE_EQ(schedule.at(0, 101).learning_rate, 0.3);
  EXPECT_DOUBLE_EQ(schedule.at(50, 101).learning_rate, 0.3 * (1 + 0.02) / 2);
  EXPECT_DOUBLE_EQ(schedule.at(100, 101).learning_rate, 0.006);
  EXPECT_DOUBLE_EQ(schedule.at(100, 101).beta1, 0.9);
  for (std::int64_t step = 1; step < 101; ++step) {
    EXPECT_LT(schedule.at(step, 101).learning_rate, schedule.at(step - 1, 101).learning_rate);
  }
}

TEST(Schedule, OneCycleRisesAndFallsAndMovesTheMomentumAgainstIt) {
  const Schedule schedule{.lr = 0.25, .shape = Shape::kOneCycle, .warmup = 0.2};
  EXPECT_NEAR(schedule.at(0, 101).learning_rate, 0.01, 1e-15);
  EXPECT_DOUBLE_EQ(schedule.at(0, 101).beta1, 0.95);
  EXPECT_DOUBLE_EQ(schedule.at(20, 101).learning_rate, 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(20, 101).beta1, 0.85);
  EXPECT_NEAR(schedule.at(100, 101).learning_rate, 1e-6, 1e-15);
  EXPECT_DOUBLE_EQ(schedule.at(100, 101).beta1, 0.95);
  for (std::int64_t step = 1; step < 101; ++step) {
    const auto before = schedule.at(step - 1, 101), now = schedule.at(step, 101);
    EXPECT_EQ(now.learning_rate > before.learning_rate, step <= 20) << "step " << step;
    EXPECT_EQ(now.beta1 < before.beta1, step <= 20) << "step " << step;
  }
}

TEST(Schedule, OneCycleMayOnlyFallOrRiseAllTheWay) {
  const Schedule falls{.lr = 0.25, .shape = Shape::kOneCycle, .warmup = 0};
  EXPECT_DOUBLE_EQ(falls.at(0, 11).learning_rate, 0.25);
  EXPECT_NEAR(falls.at(10, 11).learning_rate, 1e-6, 1e-15);
  const Schedule rises{.lr = 0.25, .shape = Shape::kOneCycle, .warmup = 1};
  EXPECT_NEAR(rises.at(0, 11).learning_rate, 0.01, 1e-15);
  for (std::int64_t step = 1; step < 10; ++step) {
    EXPECT_GT(rises.at(step, 11).learning_rate, rises.at(step - 1, 11).learning_rate);
  }
}

TEST(Schedule, OfASingleStepIsItsFirstAndPastTheEndItsLast) {
  for (const auto shape : {Shape::kConstant, Shape::kCosine, Shape::kOneCycle}) {
    const Schedule schedule{.lr = 0.25, .shape = shape};
    EXPECT_EQ(schedule.at(0, 1).learning_rate, schedule.at(0, 100).learning_rate) << name_of(shape);
    EXPECT_EQ(schedule.at(0, 0).learning_rate, schedule.at(0, 100).learning_rate) << name_of(shape);
    EXPECT_EQ(schedule.at(1000, 100).learning_rate, schedule.at(99, 100).learning_rate) << name_of(shape);
  }
}

TEST(Faded, IsGoneAfterThreeQuartersOfTheSteps) {
  EXPECT_DOUBLE_EQ(faded(0.4, 0, 100), 0.4);
  EXPECT_NEAR(faded(0.4, 30, 100), 0.4 * (1 - 30 / 75.0), 1e-12);
  EXPECT_DOUBLE_EQ(faded(0.4, 75, 100), 0);
  EXPECT_DOUBLE_EQ(faded(0.4, 99, 100), 0);
  EXPECT_DOUBLE_EQ(faded(0.4, 0, 0), 0.4);
  EXPECT_DOUBLE_EQ(faded(0, 10, 100), 0);
}

}  // namespace
}  // namespace anesi

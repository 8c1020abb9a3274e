#include "anesi/models/soft_min_sweeps.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/models/soft_min_sweeps_reference.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

struct Inputs {
  torch::Tensor costs, temperatures, goals;
};

Inputs random_inputs(std::int64_t batch, std::int64_t maps, std::int64_t side, std::uint64_t seed) {
  const auto generator = seeded(seed);
  return {torch::rand({batch, maps, side, side}, generator) + 0.05, torch::rand({maps}, generator) * 0.5 + 0.05,
          torch::randint(0, side * side, {batch}, generator, torch::kInt64)};
}

TEST(SoftMinSweeps, AreTheRecurrence) {
  for (const auto side : {2, 3, 7, 12}) {
    for (const auto batch : {1, 3, 9}) {  // 4 maps each: less than a chunk, less, more
      const auto [costs, temperatures, goals] = random_inputs(batch, 4, side, 5);
      const auto expected =
          soft_min_sweeps_composed(costs.to(torch::kFloat64), temperatures.to(torch::kFloat64), goals, 2 * side);
      const auto values = soft_min_sweeps(costs, temperatures, goals, 2 * side).to(torch::kFloat64);
      EXPECT_LT(((values - expected).abs() / (1 + expected.abs())).max().item<double>(), 2e-6) << side;
    }
  }
}

TEST(SoftMinSweeps, HaveTheGradientsOfTheRecurrence) {
  for (const auto side : {3, 9}) {
    auto [costs, temperatures, goals] = random_inputs(5, 4, side, 6);
    const auto weights = torch::randn({5, 4, side, side}, seeded(7));
    costs.requires_grad_(true);
    temperatures.requires_grad_(true);
    const auto exact_costs = costs.detach().to(torch::kFloat64).requires_grad_(true);
    const auto exact_temperatures = temperatures.detach().to(torch::kFloat64).requires_grad_(true);
    (soft_min_sweeps(costs, temperatures, goals, 2 * side) * weights).sum().backward();
    (soft_min_sweeps_composed(exact_costs, exact_temperatures, goals, 2 * side) * weights).sum().backward();
    EXPECT_TRUE(torch::allclose(costs.grad().to(torch::kFloat64), exact_costs.grad(), 1e-4, 1e-4));
    EXPECT_TRUE(torch::allclose(temperatures.grad().to(torch::kFloat64), exact_temperatures.grad(), 1e-3, 1e-3));
  }
}

TEST(SoftMinSweeps, HaveTheGradientsOfFiniteDifferences) {
  auto [costs, temperatures, goals] = random_inputs(2, 2, 4, 8);
  const auto weights = torch::randn({2, 2, 4, 4}, seeded(9));
  const auto loss = [&](const torch::Tensor& at, const torch::Tensor& warm) {
    return (soft_min_sweeps(at, warm, goals, 10) * weights).sum();
  };
  costs.requires_grad_(true);
  temperatures.requires_grad_(true);
  loss(costs, temperatures).backward();
  const torch::NoGradGuard no_gradients;
  constexpr double kStep = 1e-2;
  const auto difference = [&](torch::Tensor& varied, std::int64_t place) {
    auto flat = varied.view(-1);
    const auto kept = flat[place].item<float>();
    flat[place] = kept + kStep;
    const auto above = loss(costs, temperatures).item<double>();
    flat[place] = kept - kStep;
    const auto below = loss(costs, temperatures).item<double>();
    flat[place] = kept;
    return (above - below) / (2 * kStep);
  };
  for (auto* varied : {&costs, &temperatures}) {
    for (std::int64_t place = 0; place < varied->numel(); ++place) {
      const auto gradient = varied->grad().view(-1)[place].item<double>();
      EXPECT_NEAR(gradient, difference(*varied, place), 0.01 + 0.02 * std::abs(gradient));
    }
  }
}

TEST(SoftMinSweeps, NearZeroTemperatureGiveShortestPaths) {
  const auto costs = torch::tensor({{.8F, 9.2F, 9.2F}, {.8F, 9.2F, .8F}, {9.2F, .8F, .8F}}).view({1, 1, 3, 3});
  const auto values = soft_min_sweeps(costs, torch::tensor({0.01F}), torch::tensor({8}), 9);
  EXPECT_NEAR(values.view(-1)[0].item<double>(), 2.4, 1e-3);  // all the way around but for the goal
  EXPECT_EQ(values.view(-1)[8].item<double>(), 0);
}

TEST(SoftMinSweeps, DoNotDependOnWhatElseIsInTheBatch) {
  const auto [costs, temperatures, goals] = random_inputs(9, 4, 6, 10);
  const auto together = soft_min_sweeps(costs, temperatures, goals, 12);
  const auto alone = soft_min_sweeps(costs.slice(0, 7, 8), temperatures, goals.slice(0, 7, 8), 12);
  EXPECT_TRUE(torch::equal(together.slice(0, 7, 8), alone));
}

TEST(SoftMinSweeps, SayWhatDoesNotFit) {
  const auto [costs, temperatures, goals] = random_inputs(2, 3, 4, 11);
  EXPECT_THROW(soft_min_sweeps(costs.slice(3, 0, 3), temperatures, goals, 4), Error);
  EXPECT_THROW(soft_min_sweeps(costs, temperatures.slice(0, 1), goals, 4), Error);
  EXPECT_THROW(soft_min_sweeps(costs, temperatures, goals.slice(0, 1), 4), Error);
}

}  // namespace
}  // namespace anesi

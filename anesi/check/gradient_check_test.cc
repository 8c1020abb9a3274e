#include "anesi/check/gradient_check.h"

#include <gtest/gtest.h>

#include <queue>

#include "anesi/logic/random_formula.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

// By going from cell to cell, the nearest first.
double shortest_length(Values is_dear, int side) {
  const auto cost = [&](int cell) { return is_dear[static_cast<std::size_t>(cell)] == 1 ? 5 : 1; };
  std::vector<int> length(is_dear.size(), 1 << 20);
  std::priority_queue<std::pair<int, int>> next;
  next.emplace(-cost(0), 0);
  while (!next.empty()) {
    const auto [minus, cell] = next.top();
    next.pop();
    if (-minus >= length[static_cast<std::size_t>(cell)]) continue;
    length[static_cast<std::size_t>(cell)] = -minus;
    const int row = cell / side, column = cell % side;
    if (row > 0) next.emplace(minus - cost(cell - side), cell - side);
    if (row < side - 1) next.emplace(minus - cost(cell + side), cell + side);
    if (column > 0) next.emplace(minus - cost(cell - 1), cell - 1);
    if (column < side - 1) next.emplace(minus - cost(cell + 1), cell + 1);
  }
  return length.back();
}

TEST(GradientProblems, LengthsAreShortest) {
  const toys::RandomSeed seed;
  const int side = 4;
  const auto problem = grid_path_length(side);
  const auto worlds = torch::rand({300, side * side}, seeded(seed)).gt(0.45).to(torch::kInt64);
  const auto lengths = problem.g({worlds, torch::zeros({300, 0}, torch::kFloat64)});
  for (std::int64_t row = 0; row < worlds.size(0); ++row) {
    EXPECT_EQ(lengths[row].item<double>(), shortest_length(row_of(worlds, row), side));
  }
}

TEST(GradientProblems, SatisfiedClausesAddUp) {
  // E[number of satisfied clauses] = sum of 1 - product over literals of how likely each is false.
  const toys::RandomSeed seed;
  const auto problem = random_max_sat(8, 30, seed);
  std::mt19937_64 random(seed);
  const auto formula = random_formula(8, 30, 3, random);
  const auto numbers = torch::randn({8}, seeded(seed), torch::kFloat64);
  const auto one = numbers.sigmoid();
  double sum = 0;
  for (const auto& clause : formula.clauses()) {
    double none = 1;
    for (const int literal : clause) {
      const auto likely = one[std::abs(literal) - 1].item<double>();
      none *= literal > 0 ? 1 - likely : likely;
    }
    sum += 1 - none;
  }
  EXPECT_NEAR(problem.exact(problem.parameters_of(numbers)).item<double>(), sum, 1e-9);
}

TEST(GradientCheck, ToldBiasFromVariance) {
  const GradientCheckOptions options{.steps = 20, .trainings = 12};
  const std::vector<ComparedEstimator> compared{
      {"exact", "exact"}, {"rloo", "rloo"}, {"anesi", "anesi", {"first=20"}}, {"reparameterised", "reparameterised"}};
  const auto found = check_gradients(shifted_square(), compared, options);
  ASSERT_EQ(found.size(), 3U);  // the last is not for categoricals
  EXPECT_LT(found[0].relative, 1e-20);
  EXPECT_GT(found[1].variance, 10 * found[1].bias);
  EXPECT_EQ(found[1].calls, 4);
  EXPECT_LT(found[2].relative, 1e-3 * found[1].relative);
  EXPECT_EQ(found[2].calls, 5);
}

TEST(GradientCheck, OptimisesAsFarAsTheExactGradient) {
  const GradientCheckOptions options{.steps = 100, .trainings = 2};
  const auto found = check_optimisation(gaussian_step(), {"anesi", "anesi", {"first=50"}}, options);
  EXPECT_EQ(found.reached, 2);
  EXPECT_GE(found.least_closed, 0.99);
  EXPECT_LT(found.calls, 1000);
}

}  // namespace
}  // namespace anesi

#include "anesi/kernels/dirichlet_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/rows.h"
#include "anesi/kernels/dirichlet_sampler.h"

namespace anesi {
namespace {

const Space kUnequal{3, 1, 2};
constexpr std::size_t kValues = 6, kWidth = 9;

Matrix<float> some_beliefs(std::int64_t count, std::uint64_t seed) {
  const Matrix<double> concentration{{0.5, 2.0, 1.0}, {1.0, 0.0, 0.0}, {0.1, 0.3, 0.0}};
  Matrix<float> beliefs(count, kWidth);
  DirichletSampler(concentration).draw(seed, beliefs);
  return beliefs;
}

DirichletObjective objective_of(const Matrix<float>& beliefs) {
  std::vector<std::int64_t> sums(kValues);
  add_log_beliefs(kUnequal, beliefs.values(), +1, sums);
  const auto size = static_cast<double>(beliefs.size());
  return DirichletObjective(kUnequal, mean_log_beliefs(sums, size), size, 30);
}

TEST(DirichletFit, SumsAreOfLogarithmsInsideDomains) {
  const auto beliefs = some_beliefs(40, 1);
  std::vector<std::int64_t> sums(kValues);
  add_log_beliefs(kUnequal, beliefs.values(), +1, sums);
  const auto means = mean_log_beliefs(sums, 40);
  const std::vector<std::size_t> places{0, 1, 2, 3, 6, 7};
  for (std::size_t i = 0; i < kValues; ++i) {
    double expected = 0;
    for (std::int64_t row = 0; row < 40; ++row) {
      expected += std::log(std::max(double{beliefs[row][places[i]]}, kSmallestFittedBelief)) / 40;
    }
    EXPECT_NEAR(means[i], expected, 1e-11);
  }
}

TEST(DirichletFit, SumsForgetWhatLeaves) {
  const auto stays = some_beliefs(7, 2), leaves = some_beliefs(11, 3);
  std::vector<std::int64_t> sums(kValues), expected(kValues);
  add_log_beliefs(kUnequal, leaves.values(), +1, sums);
  add_log_beliefs(kUnequal, stays.values(), +1, sums);
  add_log_beliefs(kUnequal, leaves.values(), -1, sums);
  add_log_beliefs(kUnequal, stays.values(), +1, expected);
  EXPECT_EQ(sums, expected);
}

TEST(DirichletFit, SoftplusHasAnInverse) {
  for (const double alpha : {1e-6, 0.1, 1.0, 30.0}) {
    EXPECT_NEAR(softplus(std::vector{inverse_softplus(alpha)})[0] / alpha, 1, 1e-9);
  }
}

TEST(DirichletFit, AdamIsAdam) {
  // Against the steps as they are published (Kingma and Ba 2015, algorithm 1), one number after another.
  const auto objective = objective_of(some_beliefs(50, 4));
  const double start = inverse_softplus(0.1), rate = 0.01;
  std::vector<double> x(kValues, start), m(kValues), v(kValues);
  std::vector<double> own_x = x, own_m = m, own_v = v, gradient(kValues);
  for (std::int64_t step = 1; step <= 70; ++step) {
    objective.gradient(softplus(own_x), gradient);
    for (std::size_t i = 0; i < kValues; ++i) {
      const double g = gradient[i] / (1 + std::exp(-own_x[i]));
      own_m[i] = 0.9 * own_m[i] + 0.1 * g;
      own_v[i] = 0.999 * own_v[i] + 0.001 * g * g;
      const auto power = static_cast<double>(step);
      const double mean = own_m[i] / (1 - std::pow(0.9, power)), square = own_v[i] / (1 - std::pow(0.999, power));
      own_x[i] -= rate * mean / (std::sqrt(square) + 1e-8);
    }
  }
  fit_by_adam(objective, {x, m, v, 0}, 50, rate);
  fit_by_adam(objective, {x, m, v, 50}, 20, rate);
  for (std::size_t i = 0; i < kValues; ++i) EXPECT_NEAR(x[i], own_x[i], 1e-9);
  EXPECT_NE(x[0], start);
}

TEST(DirichletFit, NewtonEndsAtTheMinimum) {
  const auto objective = objective_of(some_beliefs(200, 5));
  std::vector<double> x(kValues, inverse_softplus(0.1)), gradient(kValues);
  fit_by_newton(objective, x, 100);
  objective.gradient(softplus(x), gradient);
  // A single value has belief 1 whatever its concentration, so it stays.
  EXPECT_NEAR(softplus(x)[3], 0.1, 1e-12);
  for (const std::size_t i : {0, 1, 2, 4, 5}) EXPECT_NEAR(gradient[i], 0, 1e-7);
}

}  // namespace
}  // namespace anesi

#include "anesi/kernels/dirichlet_objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/kernels/dirichlet_sampler.h"

namespace anesi {
namespace {

const Space kUnequal{3, 2, 5};
const std::vector<double> kConcentration{0.005, 0.3, 2.0, 0.1, 0.7, 1.0, 12.0, 0.02, 0.5, 3.0};

// Means of logarithms that beliefs can have: their exponentials sum to less than 1 in every variable.
DirichletObjective example(double l2) {
  return DirichletObjective(kUnequal, {-3.0, -1.2, -0.6, -2.0, -0.5, -1.8, -1.4, -8.0, -2.2, -1.3}, 40, l2);
}

double largest_gradient(const DirichletObjective& objective, const std::vector<double>& concentration) {
  std::vector<double> gradient(concentration.size());
  objective.gradient(concentration, gradient);
  return std::abs(*std::ranges::max_element(gradient, {}, [](double g) { return std::abs(g); }));
}

TEST(DirichletObjective, IsTheNegativeLogLikelihoodPlusL2) {
  // Of two beliefs, against the density written out.
  const std::vector<std::vector<double>> beliefs{{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}};
  const std::vector<double> alpha{0.5, 2.0, 1.5};
  std::vector<double> mean_log(3);
  double expected = 0;
  for (const auto& belief : beliefs) {
    double log_density = std::lgamma(std::accumulate(alpha.begin(), alpha.end(), 0.0));
    for (std::size_t k = 0; k < 3; ++k) {
      log_density += (alpha[k] - 1) * std::log(belief[k]) - std::lgamma(alpha[k]);
      mean_log[k] += std::log(belief[k]) / 2;
    }
    expected -= log_density;
  }
  for (const double one : alpha) expected += 7 * one * one / 3;
  EXPECT_NEAR(DirichletObjective({3}, mean_log, 2, 7).value(alpha), expected, 1e-12);
}

TEST(DirichletObjective, GradientIsThatOfFiniteDifferences) {
  const auto objective = example(5.0);
  std::vector<double> gradient(kConcentration.size());
  objective.gradient(kConcentration, gradient);
  for (std::size_t i = 0; i < kConcentration.size(); ++i) {
    const double step = 1e-5 * kConcentration[i];
    auto above = kConcentration, below = kConcentration;
    above[i] += step;
    below[i] -= step;
    const double difference = (objective.value(above) - objective.value(below)) / (2 * step);
    EXPECT_NEAR(gradient[i], difference, 1e-6 * std::max(1.0, std::abs(difference))) << "at " << i;
  }
}

TEST(DirichletObjective, NewtonEndsWhereTheGradientIsZero) {
  for (const double l2 : {0.0, 1.0, 14400.0}) {
    const auto objective = example(l2);
    for (const double start : {0.005, 0.1, 50.0}) {
      std::vector<double> concentration(kConcentration.size(), start);
      objective.minimize(concentration, 100);
      EXPECT_LT(largest_gradient(objective, concentration), 1e-8) << "l2 " << l2 << " from " << start;
    }
  }
}

TEST(DirichletObjective, NewtonWithoutL2RecoversWhatWasSampled) {
  // Concentrations at which a float holds nearly every sample; below, the smallest are rounded to 0.
  const Matrix<double> truth{{0.5, 0.4, 1.0, 4.0}, {30.0, 3.0, 20.0, 0.6}};
  Matrix<float> beliefs(50000, 8);
  DirichletSampler(truth).draw(1, beliefs);
  std::vector<double> mean_log(8);
  for (std::int64_t row = 0; row < beliefs.size(); ++row) {
    for (std::size_t i = 0; i < 8; ++i) mean_log[i] += std::log(std::max(1e-37, double{beliefs[row][i]})) / 50000;
  }
  std::vector<double> concentration(8, 0.1);
  DirichletObjective({4, 4}, mean_log, 50000, 0).minimize(concentration, 50);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(concentration[i] / truth.values()[i], 1.0, 0.03);
}

TEST(DirichletObjective, NewtonSurvivesBeliefsThatDoNotVary) {
  const DirichletObjective objective({4, 1}, {std::log(0.25), std::log(0.25), std::log(0.25), std::log(0.25), 0.0}, 100,
                                     0);
  std::vector<double> concentration(5, 0.1);
  objective.minimize(concentration, 1000);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_GT(concentration[k], 1e3);
  for (const double alpha : concentration) EXPECT_TRUE(std::isfinite(alpha));
}

TEST(DirichletObjective, PaperL2PutsUniformBeliefsNearOneTenth) {
  const DirichletObjective objective(Space::uniform(2, 10), std::vector<double>(20, std::log(0.1)), 2500, 900000);
  std::vector<double> concentration(20, 1.0);
  objective.minimize(concentration, 50);
  for (const double alpha : concentration) EXPECT_NEAR(alpha, 0.1, 0.01);
}

TEST(DirichletObjective, RefusesAnotherSpacesStatistics) {
  EXPECT_THROW(DirichletObjective({3, 2}, {0.0, 0.0}, 1, 0), Error);
}

}  // namespace
}  // namespace anesi

#include "anesi/kernels/dirichlet_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Matrix<float> drawn(const Matrix<double>& concentration, std::int64_t count, std::uint64_t seed) {
  Matrix<float> beliefs(count, concentration.size() * concentration.width(), -1.0F);
  DirichletSampler(concentration).draw(seed, beliefs);
  return beliefs;
}

// Mean over rows of what `number` makes of each.
template <typename Number>
double mean_of(const Matrix<float>& beliefs, Number number) {
  double total = 0;
  for (std::int64_t row = 0; row < beliefs.size(); ++row) total += number(beliefs[row]);
  return total / static_cast<double>(beliefs.size());
}

TEST(DirichletSampler, HasTheRightMeansAndCovariances) {
  const Matrix<double> alpha{{0.1, 0.2, 0.7}, {5.0, 1.0, 40.0}, {0.005, 0.005, 0.02}};
  const std::int64_t count = 200000;
  const auto beliefs = drawn(alpha, count, 3);
  std::vector<double> means, totals;
  for (std::int64_t variable = 0; variable < 3; ++variable) {
    const auto own = alpha[variable];
    totals.push_back(std::accumulate(own.begin(), own.end(), 0.0));
    for (const double one : own) means.push_back(one / totals.back());
  }
  for (std::size_t one = 0; one < 9; ++one) {
    const double variance = means[one] * (1 - means[one]) / (totals[one / 3] + 1);
    // A mean is off by five standard errors less than once in a million.
    EXPECT_NEAR(mean_of(beliefs, [&](auto row) { return row[one]; }), means[one], 5 * std::sqrt(variance / count));
    for (std::size_t other = 0; other <= one; ++other) {
      const double covariance = mean_of(
          beliefs, [&](auto row) { return (double{row[one]} - means[one]) * (double{row[other]} - means[other]); });
      if (other == one) {
        EXPECT_NEAR(covariance / variance, 1, 0.03);
      } else if (other / 3 == one / 3) {
        const double expected = -means[one] * means[other] / (totals[one / 3] + 1);
        EXPECT_NEAR(covariance, expected, 0.1 * std::abs(expected) + 1e-5);
      } else {
        EXPECT_NEAR(covariance, 0, 1e-3);  // different variables are independent
      }
    }
  }
}

TEST(DirichletSampler, MarginalsAreBeta) {
  // Beta(1/2, 1/2) has the distribution function 2/pi asin(sqrt(x)), and Beta(2, 1) has x^2: Kolmogorov-Smirnov.
  const std::int64_t count = 50000;
  const auto beliefs = drawn({{0.5, 0.5}, {2.0, 1.0}}, count, 4);
  for (const std::size_t place : {0, 2}) {
    std::vector<double> sorted;
    for (std::int64_t row = 0; row < count; ++row) sorted.push_back(beliefs[row][place]);
    std::ranges::sort(sorted);
    double largest = 0;
    for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
      const double x = sorted[rank], empirical = (static_cast<double>(rank) + 0.5) / static_cast<double>(count);
      const double expected = place == 0 ? 2 / std::numbers::pi * std::asin(std::sqrt(x)) : x * x;
      largest = std::max(largest, std::abs(expected - empirical));
    }
    EXPECT_LT(largest, 1.95 / std::sqrt(count));
  }
}

TEST(DirichletSampler, LogarithmsHaveTheRightMeanAtSmallConcentrations) {
  // E ln P = digamma(alpha) - digamma(total). By the boost of ln(u) / alpha, at 1/2 and below: digamma(1/2) =
  // -gamma - 2 ln 2, digamma(1/4) = -gamma - pi / 2 - 3 ln 2, and digamma(1) = -gamma.
  const auto beliefs = drawn({{0.25, 0.25, 0.5}}, 100000, 5);
  const auto mean_log = [&](std::size_t k) {
    return mean_of(beliefs, [k](auto row) { return std::log(std::max(1e-40, double{row[k]})); });
  };
  EXPECT_NEAR(mean_log(0), -std::numbers::pi / 2 - 3 * std::numbers::ln2, 0.06);
  EXPECT_NEAR(mean_log(2), -2 * std::numbers::ln2, 0.03);
}

TEST(DirichletSampler, RowsSumToOneHoweverSmallTheConcentration) {
  for (const double alpha : {1e-300, 1e-5, 0.005, 0.1, 1.0, 1e6}) {
    const auto beliefs = drawn(Matrix<double>(30, 10, alpha), 200, 6);
    for (std::size_t first = 0; first < beliefs.values().size(); first += 10) {
      const std::span row(beliefs.values().data() + first, 10);
      ASSERT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-6) << alpha;
      ASSERT_GE(*std::ranges::min_element(row), 0) << alpha;
    }
  }
}

TEST(DirichletSampler, FillsWhatIsPastADomainWithZeros) {
  const auto beliefs = drawn({{0.5, 0.5, 0.5}, {0.5, 0.5, 0.0}, {0.5, 0.0, 0.0}}, 50, 7);
  for (std::int64_t row = 0; row < 50; ++row) {
    const auto belief = beliefs[row];
    EXPECT_EQ(belief[5], 0);
    EXPECT_EQ(belief[6], 1);
    EXPECT_EQ(belief[7] + belief[8], 0);
  }
}

TEST(DirichletSampler, SeedsDecideTheNumbersOnAnyNumberOfThreads) {
  const Matrix<double> alpha(4, 5, 0.1);
  const auto first = drawn(alpha, 500, 8);
  EXPECT_NE(first, drawn(alpha, 500, 9));
  const ThreadLimit one(1);
  EXPECT_EQ(first, drawn(alpha, 500, 8));
  EXPECT_EQ(Matrix<float>(first.rows().slice(0, 10)), drawn(alpha, 10, 8));
  EXPECT_EQ(drawn(alpha, 0, 8).size(), 0);
}

TEST(DirichletSampler, RefusesWhatIsNoConcentration) {
  for (const auto& row : {Matrix<double>{{0.5, -0.1}}, Matrix<double>{{kNaN, 0.1}}, Matrix<double>{{0.0, 0.1}},
                          Matrix<double>{{0.0, 0.0}}}) {
    EXPECT_THROW(DirichletSampler{row}, Error);
  }
}

}  // namespace
}  // namespace anesi

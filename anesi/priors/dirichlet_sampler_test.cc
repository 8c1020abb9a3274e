#include "anesi/priors/dirichlet_sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(SampleDirichlet, HasTheRightMeansAndCovariances) {
  const auto alpha = torch::tensor({0.1, 0.2, 0.7, 5.0, 1.0, 40.0, 0.005, 0.005, 0.02}, torch::kDouble).view({3, 3});
  const std::int64_t count = 200000;
  const auto beliefs = sample_dirichlet(alpha, count, seeded(3)).to(torch::kDouble);
  const auto total = alpha.sum(-1, true);
  const auto mean = alpha / total;
  const auto variance = mean * (1 - mean) / (total + 1);
  // A mean is off by five standard errors less than once in a million.
  EXPECT_TRUE(((beliefs.mean(0) - mean).abs() < 5 * (variance / count).sqrt()).all().item<bool>());
  EXPECT_TRUE(torch::allclose(beliefs.var(0), variance, 0.03));
  const auto centred = beliefs - mean;
  const auto covariance = (centred.select(2, 0) * centred.select(2, 1)).mean(0);
  const auto expected = -mean.select(1, 0) * mean.select(1, 1) / (total.squeeze(1) + 1);
  EXPECT_TRUE(torch::allclose(covariance, expected, 0.1, 1e-5));
  // Different variables are independent.
  EXPECT_LT((centred.select(1, 0) * centred.select(1, 1)).mean(0).abs().max().item<double>(), 1e-3);
}

TEST(SampleDirichlet, MarginalsAreBeta) {
  // Beta(1/2, 1/2) has the distribution function 2/pi asin(sqrt(x)), and Beta(2, 1) has x^2: Kolmogorov-Smirnov.
  const std::int64_t count = 50000;
  const auto alpha = torch::tensor({0.5, 0.5, 2.0, 1.0}, torch::kDouble).view({2, 2});
  const auto beliefs = sample_dirichlet(alpha, count, seeded(4)).to(torch::kDouble);
  const auto sorted = std::get<0>(beliefs.select(2, 0).sort(0));  // [count, 2]
  const auto empirical = (torch::arange(count) + 0.5).to(torch::kDouble) / count;
  const auto arcsine = 2 / M_PI * torch::asin(sorted.select(1, 0).sqrt());
  const auto square = sorted.select(1, 1).square();
  EXPECT_LT((arcsine - empirical).abs().max().item<double>(), 1.95 / std::sqrt(count));
  EXPECT_LT((square - empirical).abs().max().item<double>(), 1.95 / std::sqrt(count));
}

TEST(SampleDirichlet, LogarithmsHaveTheRightMeanAtSmallConcentrations) {
  // E ln P = digamma(alpha) - digamma(total); at 0.5 and below it is the boost by ln(u) / alpha that is tested.
  const auto alpha = torch::tensor({0.3, 0.5, 2.5}, torch::kDouble).view({1, 3});
  const auto beliefs = sample_dirichlet(alpha, 100000, seeded(5)).to(torch::kDouble);
  const auto expected = torch::digamma(alpha) - torch::digamma(alpha.sum(-1, true));
  EXPECT_TRUE(torch::allclose(beliefs.clamp_min(1e-40).log().mean(0), expected, 0.02));
}

TEST(SampleDirichlet, RowsSumToOneHoweverSmallTheConcentration) {
  for (const double alpha : {1e-300, 1e-5, 0.005, 0.1, 1.0, 1e6}) {
    const auto beliefs = sample_dirichlet(torch::full({30, 10}, alpha, torch::kDouble), 200, seeded(6));
    EXPECT_TRUE(beliefs.isfinite().all().item<bool>()) << alpha;
    EXPECT_LT((beliefs.sum(-1) - 1).abs().max().item<double>(), 1e-6) << alpha;
    EXPECT_GE(beliefs.min().item<double>(), 0.0) << alpha;
  }
}

TEST(SampleDirichlet, LeavesPaddingZero) {
  const auto alpha = torch::tensor({0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.5, 0.0, 0.0}).view({3, 3});
  const auto beliefs = sample_dirichlet(alpha, 50, seeded(7));
  EXPECT_EQ((beliefs * (alpha == 0)).abs().max().item<double>(), 0.0);
  EXPECT_LT((beliefs.sum(-1) - 1).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE((beliefs.select(1, 2).select(1, 0) == 1).all().item<bool>());
}

TEST(SampleDirichlet, GeneratorDecidesTheNumbers) {
  const auto alpha = torch::full({4, 5}, 0.1);
  auto generator = seeded(8);
  const auto first = sample_dirichlet(alpha, 500, generator);
  const auto second = sample_dirichlet(alpha, 500, generator);
  EXPECT_FALSE(torch::equal(first, second));
  EXPECT_TRUE(torch::equal(first, sample_dirichlet(alpha, 500, seeded(8))));
  // A smaller sample is the beginning of a larger, on any number of threads.
  EXPECT_TRUE(torch::equal(first.slice(0, 0, 10), sample_dirichlet(alpha, 10, seeded(8))));
  EXPECT_EQ(sample_dirichlet(alpha, 0, seeded(8)).size(0), 0);
}

TEST(SampleDirichlet, RefusesWhatIsNoConcentration) {
  EXPECT_THROW(sample_dirichlet(torch::tensor({{0.5, -0.1}}), 1, seeded(9)), Error);
  EXPECT_THROW(sample_dirichlet(torch::tensor({{NAN, 0.1F}}), 1, seeded(9)), Error);
  EXPECT_THROW(sample_dirichlet(torch::tensor({{0.0, 0.1}}), 1, seeded(9)), Error);
  EXPECT_THROW(sample_dirichlet(torch::tensor({{0.0, 0.0}}), 1, seeded(9)), Error);
}

}  // namespace
}  // namespace anesi

#include "anesi/core/vectorized_math.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <vector>

namespace anesi {
namespace {

// Compares over a logarithmic range of arguments; the tolerance is relative above 1 and absolute below.
void expect_agrees(const std::function<double(double)>& own, const std::function<torch::Tensor(torch::Tensor)>& theirs,
                   double smallest, double largest, double tolerance) {
  const auto arguments = torch::logspace(std::log10(smallest), std::log10(largest), 4001, 10.0, torch::kDouble);
  const auto expected = theirs(arguments);
  for (std::int64_t i = 0; i < arguments.numel(); ++i) {
    const double x = arguments[i].item<double>();
    const double value = expected[i].item<double>();
    ASSERT_NEAR(own(x), value, tolerance * std::max(1.0, std::abs(value))) << "at " << x;
  }
}

TEST(VectorizedMath, LogarithmAgrees) {
  expect_agrees([](double x) { return vectorized::logarithm(x); }, [](auto x) { return torch::log(x); }, 1e-300, 1e300,
                1e-14);
  expect_agrees([](double x) { return vectorized::logarithm(x); }, [](auto x) { return torch::log(x); }, 0.5, 2.0,
                1e-15);
  EXPECT_EQ(vectorized::logarithm(1.0), 0.0);
}

TEST(VectorizedMath, ExponentialAgrees) {
  for (double x = 0; x < 699; x += 0.037) {
    ASSERT_NEAR(vectorized::exponential_of_minus(x) / std::exp(-x), 1.0, 1e-14) << "at " << x;
  }
  EXPECT_EQ(vectorized::exponential_of_minus(0.0), 1.0);
  EXPECT_EQ(vectorized::exponential_of_minus(-0.0), 1.0);
  for (const double x : {701.0, 1e9, 1e300}) EXPECT_NEAR(vectorized::exponential_of_minus(x) * 1e304, 0.986, 0.001);
}

TEST(VectorizedMath, SquareRootAgrees) {
  expect_agrees([](double x) { return vectorized::square_root(x) / std::sqrt(x); },
                [](auto x) { return torch::ones_like(x); }, 1e-300, 1e300, 1e-14);
  EXPECT_EQ(vectorized::square_root(0.0), 0.0);
}

TEST(VectorizedMath, SoftplusAndItsSlopeAgree) {
  for (double x = -600; x < 600; x += 0.11) {
    const auto softplus = vectorized::softplus(x);
    const double expected = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    ASSERT_NEAR(softplus.value / expected, 1.0, 1e-14) << "at " << x;
    const double slope = x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    ASSERT_NEAR(softplus.slope / slope, 1.0, 1e-14) << "at " << x;
  }
}

TEST(VectorizedMath, GammaFunctionsAgree) {
  expect_agrees([](double x) { return vectorized::digamma(x); }, [](auto x) { return torch::digamma(x); }, 1e-12, 1e8,
                1e-13);
  // torch's trigamma has ten digits, so known values too.
  expect_agrees([](double x) { return vectorized::trigamma(x); }, [](auto x) { return torch::polygamma(1, x); }, 1e-6,
                1e8, 1e-8);
  EXPECT_NEAR(vectorized::trigamma(0.5), M_PI * M_PI / 2, 1e-13);
  EXPECT_NEAR(vectorized::trigamma(1.0), M_PI * M_PI / 6, 1e-13);
  EXPECT_NEAR(vectorized::trigamma(9.0), M_PI * M_PI / 6 - 1077749.0 / 705600.0, 1e-14);
  expect_agrees([](double x) { return vectorized::log_gamma(x); }, [](auto x) { return torch::lgamma(x); }, 1e-12, 1e8,
                1e-13);
}

// What the loops of the fit compile to, on whatever this machine has.
ANESI_VECTORIZED void digamma_of_each(const double* values, double* out, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = vectorized::digamma(values[i]);
}

TEST(VectorizedMath, LoopsAgreeWithSingleCalls) {
  std::vector<double> arguments, results(1003);
  for (int i = 0; i < 1003; ++i) arguments.push_back(0.001 * (i + 1));
  digamma_of_each(arguments.data(), results.data(), arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const double expected = vectorized::digamma(arguments[i]);
    ASSERT_NEAR(results[i], expected, 1e-14 * std::max(1.0, std::abs(expected)));
  }
}

}  // namespace
}  // namespace anesi

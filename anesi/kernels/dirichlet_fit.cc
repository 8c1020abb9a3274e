#include "anesi/kernels/dirichlet_fit.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/vectorized_math.h"

namespace anesi {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;  // Adam's
constexpr double kUnitsPerNat = 0x1p40;

ANESI_VECTORIZED void softplus_of_each(const double* x, double* value, double* slope, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = vectorized::softplus(x[i]);
    value[i] = result.value;
    slope[i] = result.slope;
  }
}

// One step. gradient is with respect to alpha; slope is d alpha / d x.
ANESI_VECTORIZED void adam_step(const double* gradient, const double* slope, double learning_rate, std::int64_t step,
                                double* x, double* first, double* second, std::size_t count) {
  const auto power = static_cast<double>(step);
  const double rate = learning_rate / (1.0 - std::pow(kBeta1, power));
  const double correction = 1.0 / std::sqrt(1.0 - std::pow(kBeta2, power));
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const double g = gradient[i] * slope[i];
    first[i] = kBeta1 * first[i] + (1.0 - kBeta1) * g;
    second[i] = kBeta2 * second[i] + (1.0 - kBeta2) * g * g;
    x[i] -= rate * first[i] / (vectorized::square_root(second[i]) * correction + kEpsilon);
  }
}

}  // namespace

void add_log_beliefs(const Space& space, std::span<const float> beliefs, std::int64_t sign,
                     std::span<std::int64_t> sums) {
  const auto width = static_cast<std::size_t>(space.largest_domain());
  for (auto rest = beliefs; !rest.empty();) {
    auto sum = sums.begin();
    for (const auto domain : space.domains()) {
      for (const auto belief : rest.first(static_cast<std::size_t>(domain))) {
        const double log_belief = std::log(std::max(static_cast<double>(belief), kSmallestFittedBelief));
        *sum++ += sign * std::llrint(log_belief * kUnitsPerNat);
      }
      rest = rest.subspan(width);
    }
  }
}

std::vector<double> mean_log_beliefs(std::span<const std::int64_t> sums, double beliefs) {
  std::vector<double> means(sums.size());
  std::ranges::transform(sums, means.begin(),
                         [beliefs](std::int64_t sum) { return static_cast<double>(sum) / (kUnitsPerNat * beliefs); });
  return means;
}

double inverse_softplus(double alpha) { return alpha + std::log(-std::expm1(-alpha)); }

std::vector<double> softplus(std::span<const double> x) {
  std::vector<double> alpha(x.size()), slope(x.size());
  softplus_of_each(x.data(), alpha.data(), slope.data(), x.size());
  return alpha;
}

void fit_by_adam(const DirichletObjective& objective, const AdamFit& fit, std::int64_t steps, double learning_rate) {
  const auto size = fit.x.size();
  std::vector<double> alpha(size), slope(size), gradient(size);
  for (std::int64_t step = fit.before + 1; step <= fit.before + steps; ++step) {
    softplus_of_each(fit.x.data(), alpha.data(), slope.data(), size);
    objective.gradient(alpha, gradient);
    adam_step(gradient.data(), slope.data(), learning_rate, step, fit.x.data(), fit.first_moment.data(),
              fit.second_moment.data(), size);
  }
}

void fit_by_newton(const DirichletObjective& objective, std::span<double> x, std::int64_t steps) {
  auto alpha = softplus(x);
  objective.minimize(alpha, steps);
  std::ranges::transform(alpha, x.begin(), inverse_softplus);
}

}  // namespace anesi

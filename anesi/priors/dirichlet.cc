#include "anesi/priors/dirichlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/vectorized_math.h"
#include "anesi/priors/dirichlet_sampler.h"

namespace anesi {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;  // Adam's
constexpr double kUnitsPerNat = 0x1p40;

double inverse_softplus(double value) { return value + std::log(-std::expm1(-value)); }

ANESI_VECTORIZED void softplus_of_each(const double* x, double* value, double* slope, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = vectorized::softplus(x[i]);
    value[i] = result.value;
    slope[i] = result.slope;
  }
}

// One step, as torch::optim::Adam takes it. gradient is with respect to alpha; slope is d alpha / d x.
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

torch::Tensor copy_of(const std::vector<double>& values) { return torch::tensor(values, torch::kDouble); }

std::vector<double> values_of(const torch::Tensor& tensor) {
  const auto values = tensor.contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

}  // namespace

void check_fit(const DirichletFit& options) {
  if (options.iterations < 0) {
    throw UsageError(fmt::format("prior iterations {}; they cannot be negative", options.iterations));
  }
  if (!(options.learning_rate > 0)) {
    throw UsageError(fmt::format("prior learning rate {}; it must be positive", options.learning_rate));
  }
  if (!(options.initial > 0)) {
    throw UsageError(fmt::format("prior initial concentration {}; it must be positive", options.initial));
  }
  if (!(options.l2 >= 0)) throw UsageError(fmt::format("prior L2 {}; it cannot be negative", options.l2));
}

FittedDirichlet::FittedDirichlet(Space space, DirichletFit options)
    : space_(std::move(space)), options_(options), window_(space_, options.window) {
  check_fit(options_);
  const auto& domains = space_.domains();
  const auto values = static_cast<std::size_t>(std::accumulate(domains.begin(), domains.end(), std::int64_t{0}));
  log_sums_.assign(values, 0);
  parameter_.assign(values, inverse_softplus(options_.initial));
  first_moment_.assign(values, 0.0);
  second_moment_.assign(values, 0.0);
}

void FittedDirichlet::observe(const torch::Tensor& beliefs) {
  const auto left = window_.push(beliefs);
  count(beliefs.detach().to(torch::kCPU, torch::kFloat).contiguous(), +1);
  count(left, -1);
}

void FittedDirichlet::count(const torch::Tensor& beliefs, std::int64_t sign) {
  const float* belief = beliefs.const_data_ptr<float>();
  for (std::int64_t row = 0; row < beliefs.size(0); ++row) {
    auto sum = log_sums_.begin();
    for (const auto domain : space_.domains()) {
      for (std::int64_t k = 0; k < domain; ++k, ++sum) {
        const double log_belief = std::log(std::max(static_cast<double>(belief[k]), kSmallestBelief));
        *sum += sign * std::llrint(log_belief * kUnitsPerNat);
      }
      belief += space_.largest_domain();
    }
  }
}

DirichletObjective FittedDirichlet::objective() const {
  if (window_.size() == 0) throw Error("dirichlet prior: no beliefs to fit yet; observe some first");
  const auto beliefs = static_cast<double>(window_.size());
  std::vector<double> mean_log_beliefs(log_sums_.size());
  std::ranges::transform(log_sums_, mean_log_beliefs.begin(),
                         [beliefs](std::int64_t sum) { return static_cast<double>(sum) / (kUnitsPerNat * beliefs); });
  const double filled = options_.l2_per_belief ? beliefs / static_cast<double>(window_.capacity()) : 1.0;
  return DirichletObjective(space_, std::move(mean_log_beliefs), beliefs, options_.l2 * filled);
}

void FittedDirichlet::fit() {
  if (window_.size() == 0) return;
  switch (options_.method) {
    case DirichletFit::Method::kAdam:
      return fit_by_adam(objective());
    case DirichletFit::Method::kNewton:
      return fit_by_newton(objective());
  }
}

void FittedDirichlet::concentrations(std::span<double> alpha, std::span<double> slope) const {
  softplus_of_each(parameter_.data(), alpha.data(), slope.data(), parameter_.size());
}

void FittedDirichlet::fit_by_adam(const DirichletObjective& objective) {
  std::vector<double> alpha(parameter_.size()), slope(parameter_.size()), gradient(parameter_.size());
  for (std::int64_t iteration = 0; iteration < options_.iterations; ++iteration) {
    concentrations(alpha, slope);
    objective.gradient(alpha, gradient);
    adam_step(gradient.data(), slope.data(), options_.learning_rate, ++steps_, parameter_.data(), first_moment_.data(),
              second_moment_.data(), parameter_.size());
  }
}

void FittedDirichlet::fit_by_newton(const DirichletObjective& objective) {
  std::vector<double> alpha(parameter_.size()), slope(parameter_.size());
  concentrations(alpha, slope);
  objective.minimize(alpha, options_.iterations);
  std::ranges::transform(alpha, parameter_.begin(), inverse_softplus);
}

torch::Tensor FittedDirichlet::concentration() const {
  std::vector<double> alpha(parameter_.size()), slope(parameter_.size());
  concentrations(alpha, slope);
  auto padded = torch::zeros({space_.variables(), space_.largest_domain()}, torch::kDouble);
  auto own = alpha.cbegin();
  double* row = padded.mutable_data_ptr<double>();
  for (const auto domain : space_.domains()) {
    std::copy_n(own, domain, row);
    own += domain;
    row += space_.largest_domain();
  }
  return padded;
}

torch::Tensor FittedDirichlet::sample(std::int64_t count, at::Generator generator) {
  return sample_dirichlet(concentration(), count, std::move(generator));
}

NamedTensors FittedDirichlet::state() const {
  auto state = window_.state();
  state["parameter"] = copy_of(parameter_);
  state["first_moment"] = copy_of(first_moment_);
  state["second_moment"] = copy_of(second_moment_);
  state["steps"] = torch::tensor(steps_, torch::kLong);
  return state;
}

void FittedDirichlet::load_state(const NamedTensors& state) {
  const auto values = static_cast<std::int64_t>(parameter_.size());
  const auto parameter = saved_tensor(state, "parameter", torch::kDouble, {values});
  const auto first_moment = saved_tensor(state, "first_moment", torch::kDouble, {values});
  const auto second_moment = saved_tensor(state, "second_moment", torch::kDouble, {values});
  const auto steps = saved_tensor(state, "steps", torch::kLong, {});
  if (steps.item<std::int64_t>() < 0) throw Error("prior state: steps is below 0");
  window_.load_state(state);
  parameter_ = values_of(parameter);
  first_moment_ = values_of(first_moment);
  second_moment_ = values_of(second_moment);
  steps_ = steps.item<std::int64_t>();
  std::ranges::fill(log_sums_, 0);
  count(window_.beliefs(), +1);
}

}  // namespace anesi

#include "anesi/priors/dirichlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/kernels/dirichlet_fit.h"
#include "anesi/priors/dirichlet_sampler.h"

namespace anesi {
namespace {

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
  add_log_beliefs(space_, {beliefs.const_data_ptr<float>(), static_cast<std::size_t>(beliefs.numel())}, sign,
                  log_sums_);
}

DirichletObjective FittedDirichlet::objective() const {
  if (window_.size() == 0) throw Error("dirichlet prior: no beliefs to fit yet; observe some first");
  const auto beliefs = static_cast<double>(window_.size());
  const double filled = options_.l2_per_belief ? beliefs / static_cast<double>(window_.capacity()) : 1.0;
  return DirichletObjective(space_, mean_log_beliefs(log_sums_, beliefs), beliefs, options_.l2 * filled);
}

void FittedDirichlet::fit() {
  if (window_.size() == 0) return;
  switch (options_.method) {
    case DirichletFit::Method::kAdam:
      fit_by_adam(objective(), {parameter_, first_moment_, second_moment_, steps_}, options_.iterations,
                  options_.learning_rate);
      steps_ += options_.iterations;
      return;
    case DirichletFit::Method::kNewton:
      return fit_by_newton(objective(), parameter_, options_.iterations);
  }
}

torch::Tensor FittedDirichlet::concentration() const {
  const auto alpha = softplus(parameter_);
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

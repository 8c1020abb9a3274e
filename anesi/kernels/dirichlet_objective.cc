#include "anesi/kernels/dirichlet_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/vectorized_math.h"

namespace anesi {
namespace {

constexpr double kLargestTotal = 1e8;

ANESI_VECTORIZED void digamma_of_each(const double* values, double* out, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = vectorized::digamma(values[i]);
}

// `of_total` holds digamma(A[v]) at every value of v.
ANESI_VECTORIZED void gradient_of_each(const double* concentration, const double* of_total, const double* mean_log,
                                       double likelihood_weight, double square_weight, double* gradient,
                                       std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const double likelihood = of_total[i] - vectorized::digamma(concentration[i]) + mean_log[i];
    gradient[i] = 2.0 * square_weight * concentration[i] - likelihood_weight * likelihood;
  }
}

}  // namespace

DirichletObjective::DirichletObjective(const Space& space, std::vector<double> mean_log_beliefs, double beliefs,
                                       double l2)
    : domains_(space.domains()),
      mean_log_beliefs_(std::move(mean_log_beliefs)),
      likelihood_weight_(beliefs / static_cast<double>(space.variables())),
      square_weight_(l2 / static_cast<double>(mean_log_beliefs_.size())) {
  const auto values = std::accumulate(domains_.begin(), domains_.end(), std::int64_t{0});
  if (values != static_cast<std::int64_t>(mean_log_beliefs_.size())) {
    throw Error(fmt::format("dirichlet objective: {} mean log beliefs for a space of {} values",
                            mean_log_beliefs_.size(), values));
  }
}

double DirichletObjective::variable_value(std::span<const double> concentration,
                                          std::span<const double> mean_log) const {
  double total = 0, likelihood = 0, squares = 0;
  for (std::size_t k = 0; k < concentration.size(); ++k) {
    const double alpha = concentration[k];
    total += alpha;
    likelihood += (alpha - 1.0) * mean_log[k] - vectorized::log_gamma(alpha);
    squares += alpha * alpha;
  }
  likelihood += vectorized::log_gamma(total);
  return square_weight_ * squares - likelihood_weight_ * likelihood;
}

double DirichletObjective::value(std::span<const double> concentration) const {
  double value = 0;
  std::size_t first = 0;
  for (const auto domain : domains_) {
    const auto size = static_cast<std::size_t>(domain);
    value += variable_value(concentration.subspan(first, size), std::span(mean_log_beliefs_).subspan(first, size));
    first += size;
  }
  return value;
}

void DirichletObjective::gradient(std::span<const double> concentration, std::span<double> gradient) const {
  std::vector<double> totals(domains_.size());
  std::size_t first = 0;
  for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
    const auto size = static_cast<std::size_t>(domains_[variable]);
    const auto own = concentration.subspan(first, size);
    totals[variable] = std::accumulate(own.begin(), own.end(), 0.0);
    first += size;
  }
  digamma_of_each(totals.data(), totals.data(), totals.size());
  auto out = gradient.begin();
  for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
    out = std::fill_n(out, domains_[variable], totals[variable]);
  }
  gradient_of_each(concentration.data(), gradient.data(), mean_log_beliefs_.data(), likelihood_weight_, square_weight_,
                   gradient.data(), concentration.size());
}

void DirichletObjective::minimize(std::span<double> concentration, std::int64_t steps) const {
  std::size_t first = 0;
  for (const auto domain : domains_) {
    const auto size = static_cast<std::size_t>(domain);
    // A single value has belief 1 whatever its concentration, so there is nothing to fit.
    if (size > 1) {
      minimize_variable(concentration.subspan(first, size), std::span(mean_log_beliefs_).subspan(first, size), steps);
    }
    first += size;
  }
}

void DirichletObjective::minimize_variable(std::span<double> concentration, std::span<const double> mean_log,
                                           std::int64_t steps) const {
  const auto size = concentration.size();
  std::vector<double> gradient(size), curvature(size), direction(size), candidate(size);
  for (std::int64_t step = 0; step < steps; ++step) {
    const double total = std::accumulate(concentration.begin(), concentration.end(), 0.0);
    if (total > kLargestTotal) return;
    // The Hessian is diag(curvature) + common * 1 1^T, which the Sherman-Morrison formula inverts.
    const double of_total = vectorized::digamma(total);
    const double common = -likelihood_weight_ * vectorized::trigamma(total);
    double scaled_gradient = 0, scale = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const double alpha = concentration[k];
      gradient[k] =
          2.0 * square_weight_ * alpha - likelihood_weight_ * (of_total - vectorized::digamma(alpha) + mean_log[k]);
      curvature[k] = 2.0 * square_weight_ + likelihood_weight_ * vectorized::trigamma(alpha);
      scaled_gradient += gradient[k] / curvature[k];
      scale += 1.0 / curvature[k];
    }
    const double shift = scaled_gradient / (1.0 / common + scale);
    double decrement = 0, length = 1.0;
    for (std::size_t k = 0; k < size; ++k) {
      direction[k] = (shift - gradient[k]) / curvature[k];
      decrement -= gradient[k] * direction[k];
      if (direction[k] < 0) length = std::min(length, -0.9 * concentration[k] / direction[k]);
    }
    // So near the minimum the step squares the error, and the objective's rounding would only mislead a line search.
    const bool last = decrement <= 1e-12 * likelihood_weight_;
    const double before = variable_value(concentration, mean_log);
    while (true) {
      for (std::size_t k = 0; k < size; ++k) candidate[k] = concentration[k] + length * direction[k];
      if (last || length < 1e-10) break;
      if (variable_value(candidate, mean_log) <= before - 1e-4 * length * decrement) break;
      length *= 0.5;
    }
    std::copy(candidate.begin(), candidate.end(), concentration.begin());
    if (last || length < 1e-10) return;
  }
}

}  // namespace anesi

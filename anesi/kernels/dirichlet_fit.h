// Fitting Dirichlets to beliefs that keep coming in (appendix F of the paper), on arrays that the caller keeps.
//
// A fit moves x, with alpha = softplus(x), from where it was towards the minimum of a DirichletObjective: by Adam,
// whose moments are kept from one fit to the next, or by Newton's method. No belief is read again: the objective needs
// the mean of ln P alone, and sums of ln P are kept, to which beliefs that come are added and from which those that
// leave are taken.
//
// x, alpha, moments and sums have one number for every value of the space, variable after variable, with no padding
// between them. A call stays on the thread that makes it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/space.h"
#include "anesi/kernels/dirichlet_objective.h"

namespace anesi {

// A smaller belief counts as this: float beliefs within rounding of a one-hot row are 0 or anything up to 6e-8, so
// smaller numbers say nothing, yet the logarithm would make much of them.
inline constexpr double kSmallestFittedBelief = 1e-7;

// Adds sign times the logarithms of beliefs to the sums. beliefs are [any number, variables, largest domain]. Sums are
// integers, in units of 2^-40, so they are exact and do not drift.
void add_log_beliefs(const Space& space, std::span<const float> beliefs, std::int64_t sign,
                     std::span<std::int64_t> sums);
// The sums' mean over so many beliefs, as DirichletObjective takes it.
std::vector<double> mean_log_beliefs(std::span<const std::int64_t> sums, double beliefs);

// x at which softplus is alpha.
double inverse_softplus(double alpha);
std::vector<double> softplus(std::span<const double> x);

struct AdamFit {
  std::span<double> x, first_moment, second_moment;
  std::int64_t before = 0;  // steps that were taken in earlier fits
};

// So many steps of Adam.
void fit_by_adam(const DirichletObjective& objective, const AdamFit& fit, std::int64_t steps, double learning_rate);
// At most so many steps of Newton's method for each variable.
void fit_by_newton(const DirichletObjective& objective, std::span<double> x, std::int64_t steps);

}  // namespace anesi

// What fitting a Dirichlet to observed beliefs minimises (appendix F of the paper), with its derivatives in closed
// form.
//
// The prior is one Dirichlet a variable, independent of the others. With n beliefs observed, V variables, E values in
// all (the sum of the domains' sizes), s[v,k] the mean over the beliefs of ln P[v,k], and A[v] = sum over k of
// alpha[v,k],
//
//   objective(alpha) = - n/V * sum over v of ( ln Gamma(A[v]) - sum over k of ln Gamma(alpha[v,k])
//                                             + sum over k of (alpha[v,k] - 1) * s[v,k] )
//                      + L2/E * sum over v,k of alpha[v,k]^2
//
// that is, minus n times the mean over variables of the mean log-likelihood, plus L2 times the mean square of the
// concentrations, as the reference implementation has it. It depends on the beliefs through s alone, so a step costs
// the same however many there are. It is convex, and its parts for different variables are independent.
//
// Concentrations, gradients and s are flat arrays of the E values, variable after variable, with no padding between
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

class DirichletObjective {
 public:
  // mean_log_beliefs has one number for every value of the space. Keeps copies of what it is given.
  DirichletObjective(const Space& space, std::vector<double> mean_log_beliefs, double beliefs, double l2);

  double value(std::span<const double> concentration) const;
  void gradient(std::span<const double> concentration, std::span<double> gradient) const;

  // Newton's method from the given concentrations to the minimum, at most that many steps a variable (Minka 2000,
  // "Estimating a Dirichlet distribution": the Hessian of one variable is a diagonal plus a constant, so a step is
  // linear in the domain's size). Steps are shortened so that concentrations stay positive and the objective falls.
  // Without L2, beliefs that do not vary have no minimum: concentrations then stop growing near 1e8.
  void minimize(std::span<double> concentration, std::int64_t steps) const;

 private:
  void minimize_variable(std::span<double> concentration, std::span<const double> mean_log, std::int64_t steps) const;
  double variable_value(std::span<const double> concentration, std::span<const double> mean_log) const;

  std::vector<std::int64_t> domains_;
  std::vector<double> mean_log_beliefs_;
  double likelihood_weight_;  // n / V
  double square_weight_;      // L2 / E
};

}  // namespace anesi

// How good estimated gradients are: their errors along an optimisation, and how far an optimisation by them gets.
#pragma once

#include <string>
#include <vector>

#include "anesi/check/gradient_problems.h"

namespace anesi {

struct GradientCheckOptions {
  std::int64_t steps = 250;     // of the optimisation by the exact gradient
  std::int64_t calls = 4;       // of g for each step: what errors are compared at
  std::int64_t trainings = 20;  // of each estimator, each with a seed of its own
  double learning_rate = 0.05;  // of Adam
  std::uint64_t seed = 1;
};

// An estimator by name, with its settings.
struct ComparedEstimator {
  std::string label, name;
  std::vector<std::string> settings = {};
};

// Squared errors of the gradient, summed over numbers, in the mean over steps and trainings; `relative` ones are shares
// of the exact gradient's own square.
//
// An estimator that calls g more often than `calls` for a gradient can take fewer of them. What counts at equal calls
// is the variance of their mean: so variances are multiplied by calls for a gradient over `calls`. One that learns
// spreads its calls over the steps as it is told, and errors of the first steps, when it knows little, count like the
// others.
struct GradientErrors {
  std::string estimator;
  double calls = 0;  // of g for a gradient
  double bias = 0, variance = 0,
         error = 0;                  // at equal calls; the bias squared, its own error from few trainings taken off
  double relative = 0;               // error
  double seconds = 0;                // for a gradient, learning included
  std::vector<double> by_step = {};  // relative, for each step
};

// Along the steps of an optimisation by exact gradients, the same for all. Estimators that cannot do the problem are
// left out.
std::vector<GradientErrors> check_gradients(const GradientProblem& problem,
                                            const std::vector<ComparedEstimator>& estimators,
                                            const GradientCheckOptions& options);

// An optimisation by the estimator's own gradients.
struct OptimisationCheck {
  std::string estimator;
  double start = 0, best = 0;               // E[g] before, and where as many steps by exact gradients end
  double closed = 0;                        // share of that gap that is closed at last, the mean over trainings
  double least_closed = 0;                  // of the worst training
  std::int64_t reached = 0, trainings = 0;  // trainings that closed 99 % of it on the way
  double calls = 0;                         // of g until then: the median, where all but few reached it; else infinite
};

// Where the exact gradient goes in `steps`, this may take `patience` times as many.
OptimisationCheck check_optimisation(const GradientProblem& problem, const ComparedEstimator& estimator,
                                     const GradientCheckOptions& options, std::int64_t patience = 4);

}  // namespace anesi

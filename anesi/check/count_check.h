// How well formulas are counted: q(y=1|P) and importance sampling against all worlds, one after another.
#pragma once

#include <memory>

#include "anesi/models/graph.h"
#include "anesi/train/formula_training.h"

namespace anesi {

// Errors are of log p(y=1|P), in nats: in the mean, and what 95 % of the formulas stay below.
struct CountCheck {
  std::int64_t formulas = 0, samples = 0;
  double predicted_mean = 0, predicted_95 = 0;  // of q(y=1|P)
  double sampled_mean = 0, sampled_95 = 0;      // of importance sampling from q(w|y=1,P) under the pruner
  double within = 0;                            // share of the formulas where that is off by at most kCloseCount
  double effective = 0;                         // mean effective sample size, as a share of the samples
  double covered = 0;                           // share of the formulas where the truth lies in the interval
  double satisfied = 0;                         // share of the samples that satisfy their formula
};
inline constexpr double kCloseCount = 0.05;

// Formulas from `draw` over few variables, each of two values and the formula's n-th; beliefs are uniform between 0 and
// 1. Throws Error where anesi was built without CaDiCaL.
CountCheck check_counts(const std::shared_ptr<GraphNetwork>& network, const DrawFormula& draw, std::int64_t formulas,
                        std::int64_t samples, std::uint64_t seed);

}  // namespace anesi

// How well weighted formulas are counted and their weights found again, on random ones.
#pragma once

#include "anesi/train/fit_weights.h"
#include "anesi/train/formula_training.h"

namespace anesi {

// Errors are of log Z(P) against all worlds one after another, in nats: in the mean, and the largest.
struct SoftCountCheck {
  std::int64_t formulas = 0, samples = 0;
  double predicted_mean = 0, predicted_most = 0;  // of q
  double sampled_mean = 0, sampled_most = 0;      // of importance sampling from q under the pruner
  double circuit_most = 0;                        // of the circuit
  double effective = 0;                           // mean effective sample size, as a share of the samples
  std::int64_t compiled = 0;                      // formulas that have a circuit
};

// Formulas over few variables, each with a belief of uniform probabilities.
SoftCountCheck check_soft_counts(const std::shared_ptr<GraphNetwork>& network, const DrawSoftFormula& draw,
                                 std::int64_t formulas, std::int64_t samples, std::uint64_t seed);

// Weights fitted to worlds that the circuit drew with the true ones.
struct RecoveryCheck {
  std::int64_t formulas = 0, weights = 0;
  std::int64_t open = 0;    // formulas passed over, because their worlds do not tell all weights
  double within_two = 0;    // share of the weights that are at most two standard errors off; 0.954 is expected
  double most_errors = 0;   // how far off the worst is, in standard errors
  double mean_squared = 0;  // of those distances; 1 is expected
};

// Formulas must compile. With beliefs, each world has one of its own.
RecoveryCheck check_recovery(const DrawSoftFormula& draw, std::int64_t formulas, std::int64_t worlds, bool with_beliefs,
                             const FitOptions& options, std::uint64_t seed,
                             const std::shared_ptr<GraphNetwork>& network = nullptr);

}  // namespace anesi

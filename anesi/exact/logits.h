// How likely labels are, straight from a network's logits: softmax, labels and the gradient by the logits in one call.
//
//   log P_i(v) = logits_i(v) - log of the sum over u of exp(logits_i(u))
//
// Logits are in 32 or 64 bits; what is between is in 64. Logits that differ by hundreds lose nothing.
#pragma once

#include "anesi/exact/labels.h"

namespace anesi {

// What a label is about.
template <typename Real>
struct LogitRows {
  // [size, variables, width], of all variables of the world but the first ones, which are given. Places past a
  // variable's domain do not count. -inf is a value that is impossible.
  ValuesOfBeliefs<const Real> logits;
  PointRows given = {};  // the first variables of each world, known for certain; of no width: there are none
};

// As label_log_prob() in labels.h, where `labels.worlds` is of the variables that are not given. If `gradient` is not
// empty, it is overwritten with the derivative by the logits; 0 if a label is impossible, and past a variable's domain.
// Throws UsageError if a logit is not a number or +inf, if all of a variable's are -inf, or if what is given is outside
// its domain; Error if a shape does not fit.
template <typename Real>
void label_log_prob(const Backend& backend, const LogitRows<Real>& rows, const LabelRows& labels,
                    std::span<Real> log_probs, ValuesOfBeliefs<Real> gradient = {},
                    WholeWorlds whole = WholeWorlds::kGivenOutput);

// The same beliefs as logarithms, given variables included: [size, all variables, largest domain].
template <typename Real>
std::vector<double> log_beliefs_of(const Space& worlds, const LogitRows<Real>& rows);

}  // namespace anesi

// How likely labels of every kind are: what a label says is decided here, for all back ends and all callers.
//
// A label tells an output, or that the output is anything but that, or some of its parts; some variables of the world,
// or all of them; or both.
//
//   an output                    log p(y|P); if it does not hold, log of the sum of p(y'|P) over the other outputs y'
//   some variables S, no output  log p(w_S|P) = sum over S of log P_i(w_i)
//   both                         log p(w_S, y|P) = log p(w_S|P) + log p(y | P with S made certain)
//   a whole world and an output  the same, which is log p(w|P) or -inf, or log p(w|y,P): WholeWorlds says which
#pragma once

#include "anesi/exact/backend.h"

namespace anesi {

// Of each example. A view; whoever made it keeps the numbers.
struct LabelRows {
  PointRows outputs = {};            // kUnset where a part is not known; of no width: nothing is known of any
  std::span<const bool> holds = {};  // false where the output is anything else; empty: all hold
  PointRows worlds = {};             // kUnset where a variable is not known; of no width: nothing is known of any
};

// What a label is worth that tells all variables of the world and an output that holds.
enum class WholeWorlds { kGivenOutput, kJoint };  // log p(w|y,P), log p(w,y|P)

// Of each row; -inf if it is impossible. If `gradient` is not empty, it is overwritten with the derivative by
// log P_i(v); 0 if the label is impossible. Throws Error if a shape does not fit.
void label_log_prob(const Backend& backend, LogBeliefRows logs, const LabelRows& labels, std::span<double> log_probs,
                    GradientRows gradient = {}, WholeWorlds whole = WholeWorlds::kGivenOutput);

// The matrix of second derivatives times a direction, as Backend::hessian_product().
void label_hessian_product(const Backend& backend, LogBeliefRows logs, const LabelRows& labels, LogBeliefRows direction,
                           GradientRows result, WholeWorlds whole = WholeWorlds::kGivenOutput);

}  // namespace anesi

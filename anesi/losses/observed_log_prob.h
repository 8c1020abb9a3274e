// How likely observations of every kind are under q.
#pragma once

#include "anesi/core/observations.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"

namespace anesi {

// Of each row, [batch], differentiable in the beliefs:
//
//   an output            log q(y|P), or log(1 - q(y|P)) where it does not hold
//   a whole world        log q(w|y,P), by the explanation model or, where q only predicts, by Bayes' rule,
//                        log p(w|P) + log q(y|w) - log q(y|P)
//   some of its          log p(w_S, y|P) = sum over S of log P_i(w_i) + log q(y | P with S made certain): a model that
//   variables S          chooses one variable after another cannot sum over the others, but beliefs can be made certain
//   worlds, no output    log p(w_S|P), without q
//
// With pruning, q is the pruned model where `prunes_prediction` says so, and its explanation model always.
torch::Tensor observed_log_prob(const InferenceModel& model, const torch::Tensor& beliefs,
                                const Observations& observations, const Pruning* pruning = nullptr,
                                bool prunes_prediction = false);

}  // namespace anesi

// How likely observations of every kind are under q.
#pragma once

#include <functional>

#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/tensors/exact_inference.h"
#include "anesi/tensors/observations.h"

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
// With pruning, q is the pruned model where `prunes_prediction` says so, and its explanation model always. Where the
// beliefs are known as logarithms too, those say how likely known variables are: softmax may have rounded them to 0.
torch::Tensor observed_log_prob(const InferenceModel& model, const torch::Tensor& beliefs,
                                const Observations& observations, const Pruning* pruning = nullptr,
                                bool prunes_prediction = false, const LogBeliefs* logs = nullptr);

// The same by anything that says how likely outputs are, log p(y|P), or log(1 - p(y|P)) where they do not hold, and
// worlds that are known altogether, log p(w|y,P); [rows] each.
using LogProb = std::function<torch::Tensor(const torch::Tensor& beliefs, const Observations& observations)>;
torch::Tensor observed_log_prob(const torch::Tensor& beliefs, const LogBeliefs& logs, const Observations& observations,
                                const LogProb& of_outputs, const LogProb& of_whole_worlds);

// log of beliefs of which a share that softmax rounded to nothing is the smallest there is, so that one such row does
// not make the loss of a whole training infinite.
LogBeliefs finite_logs(const torch::Tensor& beliefs);

}  // namespace anesi

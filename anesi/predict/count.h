// log p(y|P) by importance sampling: honest where no circuit compiles.
//
// Worlds are drawn from q(w|y,P), under a pruner where there is one, and each weighs p(w|P) / q(w|y,P) if c(w) = y and
// nothing otherwise. The mean weight is an unbiased estimate of p(y|P), whatever q is, as long as q can draw every
// world that gives y: the pruner must forbid none of them, which every Pruner promises. A draw that runs into a dead
// end, or whose output is another one, weighs nothing and is not drawn again. The logarithm of an unbiased estimate is
// a little too low in the mean, by about half its squared error.
//
// Two bounds are certain: p(y|P) is at least what the worlds that were found add up to, and at most 1. Where worlds are
// few the mean weight is often outside of these, and the interval about it too in part; the answer is what is left.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/prune.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

// Double [rows] each.
struct CountEstimate {
  torch::Tensor log_mean;   // of the mean weight; -inf where all draws weigh nothing
  torch::Tensor error;      // its standard error: that of the mean weight, as a share of it
  torch::Tensor log_prob;   // log p(y|P): the nearest to log_mean between what is certain
  torch::Tensor low, high;  // log p(y|P) with 95 %, about log_prob; within what is certain
  torch::Tensor effective;  // sample size: as many draws from p(w|y,P) itself would say as much
  torch::Tensor lost;       // share of the draws that weigh nothing
};

// The context tells beliefs and the outputs to be counted. Costs a rollout of at most rows * samples,
// fewer where draws share beginnings. Pruning that throws at dead ends does so here (DeadEnds).
CountEstimate estimate_log_prob(SequenceModel& explanation, const Problem& problem, const Context& context,
                                std::int64_t samples, at::Generator generator, const Pruning* pruning = nullptr);

// The worlds that were drawn, each once.
struct DrawnWorlds {
  torch::Tensor worlds;  // int64 [found, variables]
  torch::Tensor row;     // int64 [found], of the context
  torch::Tensor often;   // double [found]: how often it was drawn
  torch::Tensor log_q;   // double [found], of one draw
  std::int64_t rows = 0, samples = 0;
};
DrawnWorlds draw_worlds(SequenceModel& explanation, const Context& context, std::int64_t samples,
                        at::Generator generator, const Pruning* pruning = nullptr);

// The sum over all worlds of what each weighs, at most 1 in all, from those that were drawn: the logarithms of their
// weights, double [found].
CountEstimate estimate_log_sum(const DrawnWorlds& drawn, const torch::Tensor& log_weight);

}  // namespace anesi

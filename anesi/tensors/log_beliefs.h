// Beliefs as logarithms, so that what softmax would round to 0 still counts.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <utility>

#include "anesi/core/space.h"
#include "anesi/exact/backend.h"

namespace anesi {

// Log-probabilities of each variable's values, double [batch, worlds, domain] on the CPU; -inf where a value is
// impossible. Places past a variable's domain do not count.
struct LogBeliefs {
  explicit LogBeliefs(torch::Tensor values) : logs(std::move(values)) {}
  // From probabilities of any floating type, without gradients.
  static LogBeliefs of(const torch::Tensor& beliefs);
  // The same with gradients, which are 0 where a probability is; see through_logs() for those that are not.
  static LogBeliefs differentiable(const torch::Tensor& beliefs);
  // log p(w_S|P) of the variables S that are known, int64 [batch, variables], kUnset where not; double [batch].
  // Differentiable.
  torch::Tensor known_log_prob(const torch::Tensor& known) const;
  LogBeliefs rows(const torch::Tensor& rows) const { return LogBeliefs(logs.index_select(0, rows)); }

  std::int64_t size() const { return logs.size(0); }
  torch::Tensor logs;
};

// What `ask` makes of beliefs that come as probabilities, [batch, worlds, domain], differentiable in them also where
// they are 0. `ask` is told logarithms and gives a logarithm of a probability that is linear in each belief, [batch];
// it may be called twice.
torch::Tensor through_logs(const torch::Tensor& beliefs, const Space& worlds,
                           const std::function<torch::Tensor(const LogBeliefs&)>& ask);

// A view of a tensor of doubles [batch, variables, width] that lies in one piece on the CPU.
LogBeliefRows belief_rows_of(const torch::Tensor& logs);
GradientRows gradient_rows_of(torch::Tensor& numbers);

}  // namespace anesi

// Where models meet pruners: rollouts that only offer what can still be completed.
//
// Sampling and beam search go through here, so no architecture knows of pruning. What is left of each choice is
// renormalised, and the normaliser is part of the graph, so gradients are those of the pruned model.
#pragma once

#include "anesi/core/pruner.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

class Pruning {
 public:
  virtual ~Pruning() = default;
  // A pruned rollout of the model, which outlives it, as this does.
  virtual std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context) const = 0;
};

// Asks a symbolic pruner at every step: about worlds where the context has outputs, else about outputs. A rollout
// throws Error where a row has no completion at all, naming what was chosen.
class SymbolicPruning final : public Pruning {
 public:
  explicit SymbolicPruning(std::shared_ptr<const Pruner> pruner) : pruner_(std::move(pruner)) {}
  // The pruner outlives it.
  explicit SymbolicPruning(const Pruner& pruner) : pruner_(std::shared_ptr<const Pruner>(), &pruner) {}
  std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context) const override;

 private:
  std::shared_ptr<const Pruner> pruner_;
};

// log_probs [rows, values] restricted to what is allowed, bool of the same shape, and renormalised. Where the model
// gives nothing to all that is allowed, each of it is as likely as the other.
torch::Tensor restrict_choice(const torch::Tensor& log_probs, const torch::Tensor& allowed);

// The model's own rollout where `pruning` is null.
std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context, const Pruning* pruning);

// log q(values|context) under pruning, [batch]: the model's own log_prob where `pruning` is null. Differentiable if the
// model's rollouts are.
torch::Tensor log_prob(SequenceModel& model, const Context& context, const torch::Tensor& values,
                       const Pruning* pruning);

}  // namespace anesi

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

// What a rollout does about a row that nothing completes, which a pruner that is not exact may lead into: throw Error,
// naming what was chosen, or offer no value at all, each at -inf.
enum class DeadEnds { kThrow, kOfferNothing };

// Asks a symbolic pruner at every step: about worlds where the context has outputs, else about outputs.
class SymbolicPruning final : public Pruning {
 public:
  explicit SymbolicPruning(std::shared_ptr<const Pruner> pruner, DeadEnds dead_ends = DeadEnds::kThrow)
      : pruner_(std::move(pruner)), dead_ends_(dead_ends) {}
  // The pruner outlives it.
  explicit SymbolicPruning(const Pruner& pruner, DeadEnds dead_ends = DeadEnds::kThrow)
      : SymbolicPruning(std::shared_ptr<const Pruner>(std::shared_ptr<const Pruner>(), &pruner), dead_ends) {}
  std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context) const override;

 private:
  std::shared_ptr<const Pruner> pruner_;
  DeadEnds dead_ends_;
};

// log_probs [rows, values] restricted to what is allowed, bool of the same shape, and renormalised. Where the model
// gives nothing to all that is allowed, each of it is as likely as the other. Where nothing is allowed, all stays at
// -inf.
torch::Tensor restrict_choice(const torch::Tensor& log_probs, const torch::Tensor& allowed);

// The model's own rollout where `pruning` is null.
std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context, const Pruning* pruning);

// log q(values|context) under pruning, [batch]: the model's own log_prob where `pruning` is null. Differentiable if the
// model's rollouts are.
torch::Tensor log_prob(SequenceModel& model, const Context& context, const torch::Tensor& values,
                       const Pruning* pruning);

}  // namespace anesi

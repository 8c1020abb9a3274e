// A q of one's own, for outputs that depend on a count alone.
//
// How many variables have a value is the sum of as many coins as there are variables, each with its own probability.
// That sum's distribution is linear in every belief, so a table from counts to outputs on top of it is a q that is
// multilinear: once it is right on worlds it is right on every belief, and `alarms check` bounds how far it is from
// exact.
#pragma once

#include <anesi/anesi.h>

#include "counts_only.h"

struct CountOptions {
  double spread = 0.1;

  void describe(anesi::OptionTable& table) { table.add("spread", spread, {0, 10}, "of the table's first logits"); }
};

// For problems with one output variable.
class CountModel final : public anesi::SequenceModel {
 public:
  // Throws UsageError where the problem does not say that counts are enough.
  CountModel(const anesi::Problem& problem, const CountOptions& options);

  torch::Tensor log_prob(const anesi::Context& context, const torch::Tensor& values) override;
  std::unique_ptr<anesi::Rollout> begin(const anesi::Context& context) override;
  bool multilinear() const override { return true; }

 private:
  // log q(y|P) of every value y, [batch, values].
  torch::Tensor log_probs(const torch::Tensor& beliefs) const;

  std::int64_t value_;
  torch::Tensor table_logits_;  // [counts, values of the output]
};

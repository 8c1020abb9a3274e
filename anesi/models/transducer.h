// A learned stochastic finite-state transducer: a q that is multilinear in the beliefs.
//
// It walks along a problem's reading order with a distribution h over r latent states. A step reads world variables,
// moves and emits an output by a learned table T with stochastic rows:
//
//   k[y, h'] = sum over the values a, b, … read and the states h of  P_a * P_b * … * h[h] * T[(a, b, …, h), (y, h')]
//
// It then conditions on the emitted y and goes on. Each P_i enters once and linearly, and rows of T sum to one, so
// q(y|P) is linear in each P_i separately and sums to one, as p(y|P) does. Hence being right on worlds (certain
// beliefs) makes it right on every belief: q(.|P) = E_{w~P} q(.|w). It is trained on sampled worlds alone, and no prior
// over beliefs is needed. It fits functions that can be read in the given order with a bounded memory; where none of r
// states suffices, use a neural q.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct TransducerOptions {
  std::int64_t states = 4;

  void describe(OptionTable& table) { table.add("states", states, {1, 256}, "latent states"); }
};

class Transducer final : public SequenceModel {
 public:
  Transducer(const Space& worlds, const Space& outputs, const ReadingOrder& reading, const TransducerOptions& options);

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const torch::Tensor& beliefs) override;
  bool multilinear() const override { return true; }

 private:
  torch::Tensor initial() const;              // [states], a distribution
  std::vector<torch::Tensor> tables() const;  // one a kind, [emitted, combinations read, states, next states]

  ReadingOrder reading_;
  std::int64_t states_;
  torch::Tensor initial_logits_;
  std::vector<torch::Tensor> table_logits_;  // one a kind, [combinations read, states, emitted * next states]
};

}  // namespace anesi

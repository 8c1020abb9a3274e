// A learned stochastic finite-state transducer: a q that is multilinear in the beliefs.
//
// A finite-state model (finite_state.h) whose tables are learned. Being right on worlds (certain beliefs) makes it
// right on every belief: q(.|P) = E_{w~P} q(.|w). It is trained on sampled worlds alone, and no prior over beliefs is
// needed. It fits functions that can be read in the given order with a bounded memory; where none of r states suffices,
// use a neural q.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/finite_state.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct TransducerOptions {
  std::int64_t states = 4;

  void describe(OptionTable& table) { table.add("states", states, {1, 256}, "latent states"); }
};

class Transducer final : public FiniteStateModel {
 public:
  Transducer(const Space& outputs, const ReadingOrder& reading, const TransducerOptions& options);

  torch::Tensor initial() const override;
  std::vector<torch::Tensor> tables() const override;

 private:
  std::int64_t states_;
  torch::Tensor initial_logits_;
  std::vector<torch::Tensor> table_logits_;  // one a kind, [combinations read, states, emitted * next states]
};

}  // namespace anesi

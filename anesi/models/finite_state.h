// Models that walk along a reading order with a distribution over finitely many states.
//
// A step reads world variables, moves and emits an output by a table T with stochastic rows:
//
//   k[y, h'] = sum over the values a, b, … read and the states h of  P_a * P_b * … * h[h] * T[(a, b, …, h), (y, h')]
//
// It then conditions on the emitted y and goes on. Each P_i enters once and linearly, and rows of T sum to one, so
// q(y|P) is linear in each P_i separately and sums to one, as p(y|P) does. With a learned table this is the transducer;
// with the table of an automaton it is exact inference.
//
// The same table explains: forward filtering and backward messages give q(w|y,P), its most probable world and its
// samples, without a second network.
#pragma once

#include "anesi/core/reading_order.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

class FiniteStateModel : public SequenceModel {
 public:
  FiniteStateModel(const Space& outputs, const ReadingOrder& reading)
      : SequenceModel(outputs, reading.emitted()), reading_(reading) {}

  // A value of kUnset is summed over.
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;
  bool rollouts_have_gradients() const override { return false; }
  bool multilinear() const override { return true; }

  const ReadingOrder& reading() const { return reading_; }
  virtual torch::Tensor initial() const = 0;  // [states], a distribution
  virtual std::vector<torch::Tensor> tables()
      const = 0;  // one a kind, [emitted, combinations read, states, next states]

 private:
  ReadingOrder reading_;
};

// q(w|y,P) of the same model; has no weights of its own. World variables are chosen in the order in which they are
// read.
std::shared_ptr<SequenceModel> make_explanation(std::shared_ptr<FiniteStateModel> model, const Space& worlds);

}  // namespace anesi

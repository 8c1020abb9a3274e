// What labels say of beliefs, as something to minimise.
//
// A loss maps the beliefs of a batch and what was observed to a number. A-NeSI is one (it owns the prior, q and
// Algorithm 1); exact inference and others fit the same shape. So one trainer serves all of them, and a comparison
// differs in one line.
#pragma once

#include <torch/torch.h>

#include <optional>
#include <vector>

#include "anesi/optimize/schedule.h"
#include "anesi/tensors/named_tensors.h"
#include "anesi/tensors/observations.h"

namespace anesi {

class Loss {
 public:
  virtual ~Loss() = default;

  // The mean loss of a batch, a scalar. Its gradient reaches the beliefs and nothing else.
  virtual torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) = 0;

  // Learns what it needs besides labels: takes note of beliefs that perception emitted (undefined: none), and, for
  // A-NeSI, updates q once (Algorithm 1) at that rate. Returns the loss of that update; empty where there is nothing to
  // learn.
  virtual std::optional<double> learn(const torch::Tensor& /*beliefs*/, const Rate& /*rate*/) { return std::nullopt; }

  // The losses that perception takes a step by, one after the other, each with an optimiser of its own: itself, or
  // parts of it where one must not drown the other.
  virtual std::vector<Loss*> in_turn() { return {this}; }

  // What a checkpoint must hold besides the model's own weights.
  virtual NamedTensors state() const { return {}; }
  virtual void load_state(const NamedTensors& /*state*/) {}
};

}  // namespace anesi

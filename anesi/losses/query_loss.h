// What a label says of beliefs, as something to minimise.
//
// A query loss maps the beliefs of a batch and what was observed of its outputs to a loss. A-NeSI is one (it owns the
// prior, q and Algorithm 1); exact inference and others fit the same shape. So one trainer serves all of them, and a
// comparison differs in one line of configuration.
#pragma once

#include <torch/torch.h>

#include "anesi/core/named_tensors.h"
#include "anesi/core/observations.h"

namespace anesi {

class QueryLoss {
 public:
  virtual ~QueryLoss() = default;

  // Learns what it needs before it is asked: takes note of the batch's beliefs and, for A-NeSI, updates q (Algorithm
  // 1). Returns the loss of that update, NaN where there was none.
  virtual double learn(const torch::Tensor& beliefs) = 0;

  // The mean loss of a batch, a scalar. Its gradient reaches the beliefs and nothing else.
  virtual torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) = 0;

  // What a checkpoint must hold besides the model's own weights.
  virtual NamedTensors state() const = 0;
  virtual void load_state(const NamedTensors& state) = 0;
};

}  // namespace anesi

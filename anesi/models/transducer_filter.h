// The arithmetic of the transducer: filtering along a reading order, forward and backward.
//
// Written by hand because a chain of small tensor operations spends its time on bookkeeping. With r states, a step that
// reads C combinations of values costs C * r^2 multiply-adds forward, twice that backward, and r^2 for a combination
// whose probability is zero, so certain beliefs are cheap. It runs in the type of the tables, 32 or 64 bits; h is
// normalised at each step and the logarithms of the normalisers are added up, so long outputs do not underflow. Runs on
// the CPU, wherever the beliefs are.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/core/reading_order.h"

namespace anesi {

// log q(values|beliefs), [batch], of the tables' type.
//   beliefs  [batch, worlds, domain];  values  int64 [batch, outputs], kUnset where a value is summed over
//   initial  [states], a distribution;  tables  one a kind, [emitted, combinations, states, next states]
// Differentiable once in beliefs, initial and tables; a gradient nobody asks for is not computed.
torch::Tensor filter_log_prob(const torch::Tensor& beliefs, const torch::Tensor& values, const torch::Tensor& initial,
                              const std::vector<torch::Tensor>& tables, const ReadingOrder& reading);

// The tables of every step mixed by the beliefs, each float [batch, emitted, states, next states].
std::vector<torch::Tensor> mix_tables(const torch::Tensor& beliefs, const std::vector<torch::Tensor>& tables,
                                      const ReadingOrder& reading);

}  // namespace anesi

// What labels say of outputs.
//
// Most labels say "the output is y". Some say less: an invalid sudoku is labelled "not all pairs differ", which is "the
// output is not y". An observation is an output and whether it holds.
#pragma once

#include <torch/torch.h>

namespace anesi {

struct Observations {
  Observations(torch::Tensor given, torch::Tensor holding = {},
               torch::Tensor asked = {})  // NOLINT(google-explicit-constructor)
      : outputs(std::move(given)), holds(std::move(holding)), queries(std::move(asked)) {}

  torch::Tensor outputs;  // int64 [batch, output variables]
  torch::Tensor holds;    // bool [batch]; undefined where all hold
  torch::Tensor queries;  // what was asked, where that is not what the problem asks (Problem::draw_queries)

  // log p(observation), [batch], from log p(output|P): where the output does not hold, log(1 - p). Differentiable.
  torch::Tensor log_prob(const torch::Tensor& output_log_prob) const;
  // Whether predicted outputs, int64 [batch, output variables], agree with what was observed, bool [batch].
  torch::Tensor agree(const torch::Tensor& predicted) const;
};

}  // namespace anesi

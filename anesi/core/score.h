// How good an output is that differs from c's own: a fact of problems whose outputs are not just right or wrong.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "anesi/core/problem.h"

namespace anesi {

// Either may be empty; then regret() and distance() below do as they do for any problem.
struct Score {
  // By how much outputs would do worse in their worlds than c's own, [batch]; 0 where they do as well (another path
  // that is as cheap), which evaluation counts as right.
  std::function<torch::Tensor(const torch::Tensor& worlds, const torch::Tensor& outputs)> regret = {};
  // How far outputs are from those wanted in a world, [batch], 0 where they are the same; what the loss `rloo` lowers.
  std::function<torch::Tensor(const torch::Tensor& worlds, const torch::Tensor& outputs, const torch::Tensor& wanted)>
      distance = {};
};

// By the problem's score or, where it has none, 1 where an output is not c's own.
inline torch::Tensor regret(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto* const score = problem.facts().find<Score>();
  if (score != nullptr && score->regret) return score->regret(worlds, outputs);
  return (problem.apply(worlds) != outputs).any(1).to(torch::kFloat32);
}

// By the problem's score or, where it has none, the share of output variables that differ.
inline torch::Tensor distance(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs,
                              const torch::Tensor& wanted) {
  const auto* const score = problem.facts().find<Score>();
  if (score != nullptr && score->distance) return score->distance(worlds, outputs, wanted);
  return (outputs != wanted).to(torch::kFloat32).mean(1);
}

}  // namespace anesi

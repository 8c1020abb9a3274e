// Variables that an input tells outright.
//
// What c takes besides what perception looks at is part of the world: the ends of a path are variables like the cells
// that it crosses, only that their beliefs are certain. So whatever serves worlds serves such a c, too: every q, every
// pruner, exact inference, discovery.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "anesi/core/problem.h"

namespace anesi {

// A fact. Buys a q that learns from beliefs as they will be, and scores that leave out what was never in doubt.
struct KnownVariables {
  std::vector<std::int64_t> variables;
  // Values for them at random, int64 [count, known variables].
  std::function<torch::Tensor(std::int64_t count, at::Generator generator)> draw;

  // All other variables, in their order, and the space of them.
  std::vector<std::int64_t> others(const Space& worlds) const;
  Space space_of_others(const Space& worlds) const;

  // Beliefs in all variables, certain of the known ones, from beliefs in the others and the values of the known ones.
  // Differentiable in the beliefs.
  torch::Tensor complete_beliefs(const torch::Tensor& of_others, const torch::Tensor& values,
                                 const Space& worlds) const;
  // The same of worlds, int64 [batch, other variables].
  torch::Tensor complete_worlds(const torch::Tensor& of_others, const torch::Tensor& values, const Space& worlds) const;
  // Beliefs in the other variables, from beliefs in all.
  torch::Tensor beliefs_in_others(const torch::Tensor& beliefs, const Space& worlds) const;
};

// The variables of a problem that perception has to tell: all of them, unless some are known.
Space perceived_space(const Problem& problem);

}  // namespace anesi

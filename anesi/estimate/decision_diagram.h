// A function of a finite space as a diagram of decisions: one layer a variable, equal parts kept once.
//
// It is the smallest machine that reads the variables in order and knows the outcome at the end, made from a table of
// all outcomes. E[g(z)] then costs as much as it has nodes, however many z there are, and is exact up to rounding.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

class DecisionDiagram {
 public:
  // `outcome_of`: for each point of the space, the last variable running fastest, which row of `outcomes` it has.
  DecisionDiagram(const Space& space, std::vector<std::int32_t> outcome_of, torch::Tensor outcomes);

  // E[outcomes], [batch, outcomes], of beliefs in 64 bits, [batch, variables, largest domain]. Differentiable.
  torch::Tensor expectation(const torch::Tensor& beliefs) const;

  std::int64_t nodes() const;

 private:
  torch::Tensor outcomes_;               // double [leaves, outcomes]
  std::vector<torch::Tensor> children_;  // a layer each: int64 [values, nodes], places in the next layer
};

}  // namespace anesi

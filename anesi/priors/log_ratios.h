// Beliefs as points of a flat space: log-ratios, without the constraint that rows sum to one.
//
// The logarithms of a variable's belief, less their mean (centred log-ratios), lie in a plane of one dimension less
// than the domain has values. Coordinates in an orthonormal basis of that plane (Helmert's contrasts) can be any
// numbers, and a softmax leads back. So a variable of k values has k - 1 of them; a variable of one value has none.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/core/space.h"

namespace anesi {

class LogRatios {
 public:
  explicit LogRatios(const Space& space);

  // How many numbers a belief of all variables has.
  std::int64_t size() const { return basis_.size(1); }

  // Beliefs [batch, variables, domain] as double [batch, size]. A belief below FittedDirichlet::kSmallestBelief counts
  // as that, so every number is finite.
  torch::Tensor of(const torch::Tensor& beliefs) const;
  // And back: float [batch, variables, domain], rows sum to 1, 0 past a variable's domain.
  torch::Tensor beliefs(const torch::Tensor& ratios) const;

 private:
  torch::Tensor basis_;    // double [variables * domain, size]; rows past a variable's domain are 0
  torch::Tensor outside_;  // bool [1, variables, domain]: past a variable's domain
};

}  // namespace anesi

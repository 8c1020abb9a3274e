// A kernel between distributions of z, whose regressions are multilinear in P.
//
// Of each variable there is a kernel c_i(z_i, z'_i): for a categorical the centred match (1 where equal, less where
// not, zero in the mean over values), for a normal exp(-|z_i - z'_i| / length), which suits jumps. Sums of products of
// d of them over all sets of d variables, the elementary symmetric polynomials e_d, say how variables act d at a time;
// the kernel is their weighted sum. Its expectation over z ~ P is closed: E[c_i] is put for c_i. So a regression on
// worlds is also the regression's expectation under any P, without sampling: linear in each P_i, as E[g(z)] is.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/estimate/draws.h"

namespace anesi {

struct KernelShape {
  std::vector<double> weights;  // of orders 0, 1, …: shares of the variance
  double length = 1;            // how far normals reach
};

class OrderKernel {
 public:
  // Variables act together at most so many at a time.
  OrderKernel(Sources sources, std::int64_t most_orders);

  std::int64_t orders() const { return orders_; }  // with the constant, order 0

  // E[e_d(z, z')] over z ~ P for each order, [orders][batch, rows], scaled so that it is 1 where z is certain and z' is
  // the same. Differentiable in the parameters.
  std::vector<torch::Tensor> of_orders(const Parameters& parameters, const Draws& others, double length) const;

  // Their weighted sum.
  torch::Tensor operator()(const Parameters& parameters, const Draws& others, const KernelShape& shape) const;

 private:
  torch::Tensor features(const torch::Tensor& beliefs) const;

  Sources sources_;
  std::int64_t orders_;
  torch::Tensor uniform_, scale_;  // [variables, domain], [variables, 1]
};

}  // namespace anesi

// Regression of outcomes on draws that were asked about, and its expectation under any parameters.
//
// A Gaussian process with the kernel of order_kernel.h: its mean fits what was seen, exactly where g is not random, and
// says least where nothing was seen. How variables act together, how long normals reach and how noisy g is are chosen
// by the likelihood of what was seen.
#pragma once

#include <torch/torch.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "anesi/estimate/order_kernel.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

struct RegressionOptions {
  std::int64_t orders = 4, memory = 2048;
  std::int64_t chosen_on = 320;  // draws, the last ones, that the kernel's shape is chosen on
};

class KernelRegression {
 public:
  KernelRegression(Sources sources, RegressionOptions options);

  // Draws and what came of them, double [rows, outcomes]. A z that was seen before counts into the mean of its
  // outcomes. Costs about (seen + rows)^2 rows, and now and then seen^3.
  void add(const Draws& draws, const torch::Tensor& outcomes);

  bool empty() const { return seen_.rows() == 0; }
  const Draws& seen() const { return seen_; }
  const torch::Tensor& outcomes() const { return outcomes_; }  // [seen, outcomes]: means

  // Weights of the kernel to each draw seen, of each column of targets, [seen, columns]: expectations of the regression
  // of these are targets' mean + kernel(P, seen) times weights.
  torch::Tensor weights_of(const torch::Tensor& targets) const;
  // The kernel between parameters and what was seen, [batch, seen]. Differentiable.
  torch::Tensor kernel(const Parameters& parameters) const;
  // Expectations of the regression of outcomes, [batch, outcomes]. Differentiable.
  torch::Tensor mean(const Parameters& parameters) const;

  NamedTensors state() const;
  // Throws Error, perhaps half-way, if it is of another regression. Costs seen^3.
  void load_state(const NamedTensors& state);

  double noise() const { return noise_; }
  const KernelShape& shape() const { return shape_; }

 private:
  Parameters certain(const Draws& draws) const;
  void keep_new(const Draws& draws, const torch::Tensor& outcomes);
  void forget();
  void choose_shape();
  void factorise();
  void extend(std::int64_t known);

  Sources sources_;
  RegressionOptions options_;
  OrderKernel kernel_;
  KernelShape shape_;
  double noise_ = 1e-4;

  Draws seen_;
  torch::Tensor outcomes_, counts_;  // [seen, outcomes], [seen]
  std::unordered_map<std::string, std::int64_t> places_;
  torch::Tensor factor_;   // Cholesky, lower, of the kernel among what was seen with noise, [seen, seen]
  torch::Tensor weights_;  // of the outcomes
  std::int64_t seen_when_chosen_ = 0;
};

}  // namespace anesi

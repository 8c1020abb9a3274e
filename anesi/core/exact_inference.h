// Exact answers: the quantities that q approximates.
//
//   p(y|P) = sum over the worlds w with c(w) = y of p(w|P)      and      p(w|y,P) = p(w|P) [c(w) = y] / p(y|P)
//
// #P-hard in general, but at hand for small problems (exact/enumerate.h), problems with a finite memory
// (exact/automaton_inference.h) and formulas that compile (exact/circuit_inference.h). They say how good an
// approximation is, and they are a baseline: the exact loss.
#pragma once

#include <torch/torch.h>

namespace anesi {

struct MostProbable {
  torch::Tensor worlds;    // int64 [batch, variables]
  torch::Tensor log_prob;  // double [batch], log p(w|P); -inf where no world of positive probability gives the output
};

// In all methods beliefs are [batch, worlds, domain] and outputs int64 [batch, outputs], where kUnset leaves a variable
// open: the output may have any value there.
class ExactInference {
 public:
  virtual ~ExactInference() = default;

  // log p(y|P), double [batch]; -inf where it is impossible. Differentiable in the beliefs.
  virtual torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const = 0;

  // argmax over worlds of p(w|y,P).
  virtual MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const = 0;

  // A world from p(w|y,P) for each row, int64 [batch, worlds]. Throws Error where an output is impossible.
  virtual torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                               at::Generator generator) const = 0;

  // p(w_i = v | y, P), double [batch, worlds, domain]. Default: P_i(v) times the gradient of log p(y|P), which it is
  // because p(y|P) is linear in each P_i.
  virtual torch::Tensor marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

  // The entropy of p(w|y,P) in nats, double [batch]. Differentiable in the beliefs. Default: throws UsageError, for
  // only circuits know it.
  virtual torch::Tensor entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;
};

}  // namespace anesi

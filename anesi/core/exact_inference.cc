#include "anesi/core/exact_inference.h"

namespace anesi {

torch::Tensor ExactInference::marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const torch::AutoGradMode gradients(true);
  const auto variable = beliefs.detach().to(torch::kFloat64).requires_grad_(true);
  const auto total = log_prob(variable, outputs).sum();
  return (variable * torch::autograd::grad({total}, {variable})[0]).detach();
}

}  // namespace anesi

#include "anesi/core/exact_inference.h"

#include "anesi/core/error.h"

namespace anesi {

torch::Tensor ExactInference::marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  // Works in inference mode too, where tensors carry no gradients: copies made outside it do.
  const c10::InferenceMode off(false);
  const torch::AutoGradMode gradients(true);
  const auto variable = beliefs.detach().to(torch::kFloat64).clone().requires_grad_(true);
  const auto total = log_prob(variable, outputs.clone()).sum();
  return (variable * torch::autograd::grad({total}, {variable})[0]).detach();
}

torch::Tensor ExactInference::entropy(const torch::Tensor&, const torch::Tensor&) const {
  throw UsageError("the entropy of worlds is known by circuits alone: choose exact inference by a circuit");
}

}  // namespace anesi

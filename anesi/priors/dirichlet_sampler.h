// Samples of independent Dirichlets as tensors.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace anesi {

// [count, variables, domain], float, as DirichletSampler draws them (kernels/dirichlet_sampler.h).
//
// concentration is [variables, domain], 0 where a value is past its variable's domain; throws Error where a number is
// negative or not finite, or a variable has no value. One draw of the generator seeds a stream for every sample, so the
// same generator state gives the same beliefs on any number of threads.
torch::Tensor sample_dirichlet(const torch::Tensor& concentration, std::int64_t count, at::Generator generator);

}  // namespace anesi

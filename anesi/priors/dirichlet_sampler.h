// Samples of independent Dirichlets, also where their concentrations are so small that a gamma variate is no double.
//
// At concentration 0.005 most gamma variates lie below 1e-308, and dividing them by their sum gives 0/0. So the
// variates are made as logarithms: if g is Gamma(alpha + 1) and u uniform, ln g + ln(u) / alpha is the logarithm of a
// Gamma(alpha) variate. A softmax over each variable's values makes the belief. g comes from Marsaglia and Tsang's
// method
// ("A simple method for generating gamma variables", 2000), which needs alpha + 1 >= 1.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace anesi {

// [count, variables, domain], float; rows sum to 1 but for rounding, and 0 past a variable's domain. A belief may also
// be 0 inside it where it is below the smallest float.
//
// concentration is [variables, domain], 0 where a value is past its variable's domain; throws Error where a number is
// negative or not finite, or a variable has no value. One draw of the generator seeds a stream for every sample, so the
// same generator state gives the same beliefs on any number of threads.
torch::Tensor sample_dirichlet(const torch::Tensor& concentration, std::int64_t count, at::Generator generator);

}  // namespace anesi

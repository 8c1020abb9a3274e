// Randomness in tests: seeds that are told where a test fails, and random beliefs.
#pragma once

#include <torch/torch.h>

#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random_seed.h"

namespace anesi::toys {

// Beliefs of 64 bits, the surer the larger `sharpness` is; zero past each domain.
inline torch::Tensor random_beliefs(std::int64_t rows, const Space& worlds, double sharpness,
                                    const at::Generator& generator) {
  const auto scores =
      sharpness * torch::randn({rows, worlds.variables(), worlds.largest_domain()}, generator, torch::kFloat64);
  const auto weights = scores.exp() * uniform_beliefs(rows, worlds).to(torch::kFloat64);
  return weights / weights.sum(2, /*keepdim=*/true);
}

}  // namespace anesi::toys

#include "anesi/priors/fixed_dirichlet.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/priors/dirichlet_sampler.h"

namespace anesi {

FixedDirichlet::FixedDirichlet(const Space& space, double concentration)
    : concentration_(torch::zeros({space.variables(), space.largest_domain()}, torch::kDouble)) {
  if (!(concentration > 0) || !std::isfinite(concentration)) {
    throw UsageError(fmt::format("prior concentration {}; it must be positive", concentration));
  }
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    concentration_[variable].slice(0, 0, space.domain(variable)).fill_(concentration);
  }
}

torch::Tensor FixedDirichlet::sample(std::int64_t count, at::Generator generator) {
  return sample_dirichlet(concentration_, count, std::move(generator));
}

}  // namespace anesi

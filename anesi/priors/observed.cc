#include "anesi/priors/observed.h"

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

torch::Tensor ObservedBeliefs::sample(std::int64_t count, at::Generator generator) {
  if (window_.size() == 0) {
    throw Error("observed prior: no beliefs observed yet; run perception on a batch before sampling");
  }
  auto source = seeded(draw_seed(std::move(generator)));
  return window_.beliefs(torch::randint(window_.size(), {count}, source, torch::kLong));
}

}  // namespace anesi

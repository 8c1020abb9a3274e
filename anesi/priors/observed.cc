#include "anesi/priors/observed.h"

#include <ATen/CPUGeneratorImpl.h>

#include "anesi/core/error.h"

namespace anesi {

torch::Tensor ObservedBeliefs::sample(std::int64_t count, at::Generator generator) {
  if (window_.size() == 0) {
    throw Error("observed prior: no beliefs observed yet; run perception on a batch before sampling");
  }
  auto seeded = at::make_generator<at::CPUGeneratorImpl>(draw_seed(std::move(generator)));
  return window_.beliefs(torch::randint(window_.size(), {count}, seeded, torch::kLong));
}

}  // namespace anesi

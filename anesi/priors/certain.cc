#include "anesi/priors/certain.h"

#include "anesi/tensors/beliefs.h"

namespace anesi {

torch::Tensor CertainBeliefs::sample(std::int64_t count, at::Generator generator) {
  const auto domains = torch::tensor(space_.domains(), torch::kInt64);
  const auto draws = torch::randint(std::int64_t{1} << 52, {count, space_.variables()}, std::move(generator),
                                    torch::TensorOptions().dtype(torch::kInt64));
  return certain_beliefs(draws.remainder(domains), space_);
}

}  // namespace anesi

#include "anesi/priors/prior.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {

SampledWorlds BeliefPrior::sample_with_worlds(std::int64_t count, at::Generator generator) {
  const auto beliefs = sample(count, generator);
  return {beliefs, sample_worlds(beliefs, std::move(generator))};
}

torch::Tensor saved_tensor(const NamedTensors& state, const std::string& name, torch::ScalarType type,
                           torch::IntArrayRef shape) {
  const auto found = state.find(name);
  if (found == state.end()) {
    throw Error(fmt::format("prior state: no tensor \"{}\"; it was saved by another kind of prior", name));
  }
  const auto& tensor = found->second;
  bool fits = tensor.scalar_type() == type && tensor.dim() == static_cast<std::int64_t>(shape.size());
  for (std::size_t dimension = 0; fits && dimension < shape.size(); ++dimension) {
    fits = shape[dimension] == -1 || tensor.size(static_cast<std::int64_t>(dimension)) == shape[dimension];
  }
  if (!fits) {
    throw Error(fmt::format(
        "prior state: \"{}\" is {} [{}] where {} [{}] is expected; it was saved for another problem", name,
        toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "), toString(type), fmt::join(shape, ", ")));
  }
  return tensor;
}

}  // namespace anesi

#include "anesi/tensors/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// In the order of NumberType.
constexpr std::array<torch::ScalarType, kNumberTypes.size()> kTypes{
    torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
    torch::kInt32,   torch::kInt16,   torch::kInt8,    torch::kUInt8,    torch::kBool};

}  // namespace

torch::Tensor tensor_of(const Array& array) {
  const auto type = kTypes[static_cast<std::size_t>(array.type())];
  if (array.count() == 0) return torch::empty(array.shape(), type);
  return torch::from_blob(
      array.shared_data().get(), array.shape(), [kept = array.shared_data()](void*) {}, type);
}

NamedTensors tensors_of(const NamedArrays& arrays) {
  NamedTensors tensors;
  for (const auto& [name, array] : arrays) tensors[name] = tensor_of(array);
  return tensors;
}

Array array_of(const torch::Tensor& tensor) {
  if (!tensor.defined()) throw Error("is undefined, so there is nothing to write");
  const auto* const type = std::ranges::find(kTypes, tensor.scalar_type());
  if (type == kTypes.end()) throw Error(fmt::format("type {} cannot be written", toString(tensor.scalar_type())));
  if (tensor.layout() != torch::kStrided) throw Error("is sparse; only dense tensors can be written");
  const auto kept = std::make_shared<torch::Tensor>(tensor.detach().cpu().resolve_neg().contiguous());
  return {static_cast<NumberType>(type - kTypes.begin()), kept->sizes().vec(),
          std::shared_ptr<void>(kept, kept->data_ptr())};
}

NamedArrays arrays_of(const NamedTensors& tensors) {
  NamedArrays arrays;
  for (const auto& [name, tensor] : tensors) {
    try {
      arrays[name] = array_of(tensor);
    } catch (const Error& error) {
      throw Error(fmt::format("tensor \"{}\" {}", name, error.what()));
    }
  }
  return arrays;
}

}  // namespace anesi

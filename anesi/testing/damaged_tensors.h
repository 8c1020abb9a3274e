// Damage to tensors by name, for tests that whoever loads them survives anything.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "anesi/tensors/named_tensors.h"

namespace anesi::toys {

// One of them lost, renamed, of another type or shape, or with other values; and its name.
inline std::pair<std::string, NamedTensors> damaged(NamedTensors tensors, std::mt19937_64& random) {
  const auto name = std::next(tensors.begin(), static_cast<std::ptrdiff_t>(random() % tensors.size()))->first;
  auto& tensor = tensors.at(name);
  switch (random() % 7) {
    case 0:
      tensors.erase(name);
      break;
    case 1:
      tensors[name + "x"] = tensor;
      tensors.erase(name);
      break;
    case 2: {
      constexpr torch::ScalarType kTypes[] = {torch::kUInt8, torch::kBool, torch::kInt64, torch::kFloat32,
                                              torch::kFloat64};
      tensor = tensor.to(kTypes[random() % 5]);
      break;
    }
    case 3:
      tensor = tensor.unsqueeze(0);
      break;
    case 4:
      tensor = tensor.flatten().slice(0, 0, tensor.numel() / 2).clone();
      break;
    case 5:
      tensor = torch::cat({tensor.flatten(), tensor.flatten()});
      break;
    default: {
      constexpr double kValues[] = {-1, 0, 1, 255, -3e9, 9e18};
      const auto value = kValues[random() % 6];
      if (tensor.is_floating_point()) {
        tensor = torch::full_like(tensor, value);
      } else {
        tensor = torch::full(tensor.sizes(), static_cast<std::int64_t>(value), torch::kInt64).to(tensor.scalar_type());
      }
    }
  }
  return {name, std::move(tensors)};
}

}  // namespace anesi::toys

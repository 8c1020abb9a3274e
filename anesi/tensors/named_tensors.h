// Tensors by name: what is saved, loaded and checkpointed.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace anesi {

using NamedTensors = std::map<std::string, torch::Tensor>;

// The tensors whose names start with a prefix, without it.
inline NamedTensors with_prefix(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors found;
  for (auto place = tensors.lower_bound(prefix); place != tensors.end() && place->first.starts_with(prefix); ++place) {
    found[place->first.substr(prefix.size())] = place->second;
  }
  return found;
}

// Adds tensors under names that start with a prefix.
inline void add_with_prefix(NamedTensors& all, const std::string& prefix, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) all[prefix + name] = tensor;
}

// Whether a tensor may be copied over another: it has the same shape, and both hold real numbers, or the same type.
inline bool can_replace(const torch::Tensor& target, const torch::Tensor& source) {
  return source.sizes() == target.sizes() &&
         (source.scalar_type() == target.scalar_type() || (source.is_floating_point() && target.is_floating_point()));
}

// The same, in memory of their own.
inline NamedTensors copied(NamedTensors tensors) {
  for (auto& [name, tensor] : tensors) tensor = tensor.clone();
  return tensors;
}

}  // namespace anesi

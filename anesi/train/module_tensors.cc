#include "anesi/train/module_tensors.h"

#include "anesi/core/error.h"

namespace anesi {

NamedTensors module_tensors(const torch::nn::Module& module, const std::string& prefix) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors[prefix + item.key()] = item.value().detach();
  for (const auto& item : module.named_buffers()) tensors[prefix + item.key()] = item.value().detach();
  return tensors;
}

void load_module_tensors(torch::nn::Module& module, const std::string& prefix, const NamedTensors& tensors,
                         const std::string& origin) {
  const torch::NoGradGuard no_gradients;
  for (auto& [name, target] : module_tensors(module, prefix)) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.sizes() != target.sizes()) {
      throw Error(origin + ": " + name + " is missing or has another shape; it belongs to another configuration");
    }
    torch::Tensor(target).copy_(found->second);
  }
}

NamedTensors with_prefix(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors found;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = tensor;
  }
  return found;
}

}  // namespace anesi

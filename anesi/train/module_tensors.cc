#include "anesi/train/module_tensors.h"

#include <fmt/format.h>

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
      throw Error(
          fmt::format("{}: {} is missing or has another shape; it belongs to another configuration", origin, name));
    }
    torch::Tensor(target).copy_(found->second);
  }
}

NamedTensors model_tensors(const InferenceModel& model) {
  auto tensors = module_tensors(*model.prediction, "q.");
  if (model.explanation) tensors.merge(module_tensors(*model.explanation, "explanation."));
  return tensors;
}

void load_model_tensors(const InferenceModel& model, const NamedTensors& tensors, const std::string& origin) {
  load_module_tensors(*model.prediction, "q.", tensors, origin);
  if (model.explanation) load_module_tensors(*model.explanation, "explanation.", tensors, origin);
}

}  // namespace anesi

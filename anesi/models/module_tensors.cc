#include "anesi/models/module_tensors.h"

#include <fmt/format.h>

#include "anesi/core/error.h"

namespace anesi {

NamedTensors module_tensors(const torch::nn::Module& module, const std::string& prefix) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors[prefix + item.key()] = item.value().detach();
  for (const auto& item : module.named_buffers()) tensors[prefix + item.key()] = item.value().detach();
  return tensors;
}

namespace {

Error another_configuration(const std::string& origin, const std::string& name) {
  return Error(
      fmt::format("{}: {} is missing or has another shape; it belongs to another configuration", origin, name));
}

}  // namespace

void check_module_shapes(const torch::nn::Module& module, const std::string& prefix,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes, const std::string& origin) {
  for (const auto& [name, target] : module_tensors(module, prefix)) {
    const auto found = shapes.find(name);
    if (found == shapes.end() || torch::IntArrayRef(found->second) != target.sizes()) {
      throw another_configuration(origin, name);
    }
  }
}

void load_module_tensors(torch::nn::Module& module, const std::string& prefix, const NamedTensors& tensors,
                         const std::string& origin) {
  const torch::NoGradGuard no_gradients;
  for (auto& [name, target] : module_tensors(module, prefix)) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || !can_replace(target, found->second)) throw another_configuration(origin, name);
    torch::Tensor(target).copy_(found->second);
  }
}

void check_model_shapes(const InferenceModel& model, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                        const std::string& origin) {
  check_module_shapes(*model.prediction, "q.", shapes, origin);
  if (model.explanation) check_module_shapes(*model.explanation, "explanation.", shapes, origin);
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

// A module's parameters and buffers by name, out and in again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "anesi/models/inference_model.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

NamedTensors module_tensors(const torch::nn::Module& module, const std::string& prefix);

// Those of q: "q." for its prediction, "explanation." for its explanation model.
NamedTensors model_tensors(const InferenceModel& model);
void load_model_tensors(const InferenceModel& model, const NamedTensors& tensors, const std::string& origin);

// Throws Error, which names `origin`, where one of the tensors that the module has is missing among these shapes or has
// another.
void check_module_shapes(const torch::nn::Module& module, const std::string& prefix,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes, const std::string& origin);
void check_model_shapes(const InferenceModel& model, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                        const std::string& origin);

// Copies the tensors into the module. Throws Error, which names `origin`, where one is missing or has another shape.
void load_module_tensors(torch::nn::Module& module, const std::string& prefix, const NamedTensors& tensors,
                         const std::string& origin);

}  // namespace anesi

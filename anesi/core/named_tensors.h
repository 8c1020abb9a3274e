// Tensors by name: what is saved, loaded and checkpointed.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace anesi {

using NamedTensors = std::map<std::string, torch::Tensor>;

}  // namespace anesi

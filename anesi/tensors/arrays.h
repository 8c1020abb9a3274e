// Arrays as tensors, and back. Neither copies numbers that lie in one piece on the CPU.
#pragma once

#include <torch/torch.h>

#include "anesi/core/array.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

torch::Tensor tensor_of(const Array& array);
NamedTensors tensors_of(const NamedArrays& arrays);

// Throws Error where an array cannot hold a tensor: an undefined or sparse one, or of another type.
Array array_of(const torch::Tensor& tensor);
// The error names the tensor.
NamedArrays arrays_of(const NamedTensors& tensors);

}  // namespace anesi

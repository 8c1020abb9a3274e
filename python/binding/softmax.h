// Logits to beliefs, each variable over its own values.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace anesi::python {

// [batch, variables, width], f32 or f64 on the CPU, to the same with rows that sum to one; what lies past a variable's
// domain is ignored, and 0. A row that has a NaN or an infinity, or nothing but minus infinities, becomes NaN.
// Differentiable.
//
// Rows are short here, ten values or so, where torch's own softmax spends most of its time on other things.
torch::Tensor softmax_of_domains(const torch::Tensor& logits, const std::vector<std::int64_t>& domains);

// The logarithm of it, f64; minus infinity past a variable's domain.
torch::Tensor log_softmax_of_domains(const torch::Tensor& logits, const std::vector<std::int64_t>& domains);

}  // namespace anesi::python

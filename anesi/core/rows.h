// Rows of integers as tensors, and back.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/core/space.h"

namespace anesi {

// A row of an int64 matrix on the CPU that lies in one piece; a view of it.
inline Values row_of(const torch::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<std::int64_t>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

// The values of an int64 tensor, one after another.
inline std::vector<std::int64_t> values_of(const torch::Tensor& row) {
  const auto values = row.to(torch::kCPU).contiguous();
  const auto* const data = values.const_data_ptr<std::int64_t>();
  return {data, data + values.numel()};
}

// int64 [values]
inline torch::Tensor tensor_of(Values values) {
  return torch::tensor(std::vector<std::int64_t>(values.begin(), values.end()), torch::kInt64);
}

// Every point of a small space, int64 [points, variables], the last variable running fastest.
inline torch::Tensor points_of(const Space& space) {
  std::vector<std::int64_t> values;
  space.for_each_point([&](Values point) { values.insert(values.end(), point.begin(), point.end()); });
  return torch::tensor(values, torch::kInt64).view({-1, space.variables()});
}

}  // namespace anesi

// Rows of integers as tensors, and back.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/core/rows.h"

namespace anesi {

// An int64 matrix on the CPU that lies in one piece, as rows; a view of it.
PointRows rows_of(const torch::Tensor& matrix);
MutablePointRows mutable_rows_of(torch::Tensor& matrix);
// One of its rows.
inline Values row_of(const torch::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<std::int64_t>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

// The values of an int64 tensor, one after another.
std::vector<std::int64_t> values_of(const torch::Tensor& row);

// int64 [values], or [size, width]
torch::Tensor tensor_of(Values values);
torch::Tensor tensor_of(PointRows rows);
// double [size, width]
torch::Tensor tensor_of(Rows<const double> rows);
// Any matrix of numbers, as rows of its own.
Matrix<double> matrix_of(const torch::Tensor& matrix);

// Every point of a small space, int64 [points, variables], the last variable running fastest.
inline torch::Tensor points_of(const Space& space) { return tensor_of(all_points(space).rows()); }

}  // namespace anesi

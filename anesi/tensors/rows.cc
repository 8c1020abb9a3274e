#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

void check(const torch::Tensor& matrix) {
  TORCH_CHECK(
      matrix.dim() == 2 && matrix.scalar_type() == torch::kInt64 && matrix.device().is_cpu() && matrix.is_contiguous(),
      "rows: an int64 matrix on the CPU is expected, in one piece");
}

}  // namespace

PointRows rows_of(const torch::Tensor& matrix) {
  check(matrix);
  return {matrix.const_data_ptr<std::int64_t>(), matrix.size(0), matrix.size(1)};
}

MutablePointRows mutable_rows_of(torch::Tensor& matrix) {
  check(matrix);
  return {matrix.mutable_data_ptr<std::int64_t>(), matrix.size(0), matrix.size(1)};
}

std::vector<std::int64_t> values_of(const torch::Tensor& row) {
  const auto values = row.to(torch::kCPU).contiguous();
  const auto* const data = values.const_data_ptr<std::int64_t>();
  return {data, data + values.numel()};
}

torch::Tensor tensor_of(Values values) {
  return torch::tensor(std::vector<std::int64_t>(values.begin(), values.end()), torch::kInt64);
}

torch::Tensor tensor_of(PointRows rows) { return tensor_of(rows.values()).view({rows.size(), rows.width()}); }

torch::Tensor tensor_of(Rows<const double> rows) {
  const auto values = rows.values();
  return torch::tensor(std::vector<double>(values.begin(), values.end()), torch::kFloat64)
      .view({rows.size(), rows.width()});
}

Matrix<double> matrix_of(const torch::Tensor& matrix) {
  TORCH_CHECK(matrix.dim() == 2, "rows: a matrix is expected");
  const auto numbers = matrix.to(torch::kCPU, torch::kFloat64).contiguous();
  return Matrix<double>(Rows<const double>(numbers.const_data_ptr<double>(), numbers.size(0), numbers.size(1)));
}

}  // namespace anesi

#include "labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"

namespace anesi::python {
namespace {

void require_whole_numbers(const torch::Tensor& values, const char* name) {
  if (!at::isIntegralType(values.scalar_type(), /*includeBool=*/true)) {
    throw UsageError(
        fmt::format("{}: whole numbers are expected (int64), not {}", name, c10::toString(values.scalar_type())));
  }
}

}  // namespace

std::string shape_of(const torch::Tensor& tensor) { return fmt::format("({})", fmt::join(tensor.sizes(), ", ")); }

std::string in_words(Values output) { return fmt::format("[{}]", fmt::join(output, ", ")); }

void check_values(const torch::Tensor& rows, const Space& space, Allowed allowed, const char* name) {
  const auto variables = space.variables();
  const auto* value = rows.const_data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    for (std::int64_t variable = 0; variable < variables; ++variable, ++value) {
      if (*value >= 0 && *value < space.domain(variable)) continue;
      if (allowed.unset && *value == kUnset) continue;
      if (allowed.end && *value == kNone && variable > 0) continue;
      throw UsageError(fmt::format("{}: example {} has {} at variable {}, which has the values 0 to {}", name, row,
                                   *value, variable, space.domain(variable) - 1));
    }
  }
}

torch::Tensor as_rows(const torch::Tensor& values, std::int64_t batch, std::int64_t variables, const char* name) {
  require_whole_numbers(values, name);
  auto rows = values.detach().to(torch::kCPU, torch::kInt64);
  if (rows.dim() == 1 && variables == 1) rows = rows.unsqueeze(1);
  if (rows.dim() != 2 || rows.size(0) != batch || rows.size(1) != variables) {
    const auto expected =
        variables == 1 ? fmt::format("({}) or ({}, 1)", batch, batch) : fmt::format("({}, {})", batch, variables);
    throw UsageError(fmt::format("{}: shape {}, expected {}", name, shape_of(values), expected));
  }
  return rows.contiguous();
}

}  // namespace anesi::python

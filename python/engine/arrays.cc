#include "arrays.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi::python {
namespace {

nb::dlpack::dtype dtype_of(NumberType type) {
  const auto bits = static_cast<std::uint8_t>(8 * facts_of(type).bytes);
  switch (type) {
    case NumberType::kFloat64:
    case NumberType::kFloat32:
    case NumberType::kFloat16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), bits, 1};
    case NumberType::kBFloat16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), bits, 1};
    case NumberType::kUInt8:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt), bits, 1};
    case NumberType::kBool:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bool), bits, 1};
    default:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int), bits, 1};
  }
}

template <typename Array>
bool has_shape(const Array& array, std::initializer_list<std::int64_t> shape) {
  if (array.ndim() != shape.size()) return false;
  std::size_t place = 0;
  return std::ranges::all_of(
      shape, [&](std::int64_t size) { return static_cast<std::int64_t>(array.shape(place++)) == size; });
}

}  // namespace

void require_shape(bool fits, const std::string& name, const std::string& shape, const std::string& expected) {
  if (!fits) throw UsageError(fmt::format("{}: shape {}, expected {}", name, shape, expected));
}

PointRows rows_of(const Reads<std::int64_t>& array, std::int64_t width, const char* name) {
  const bool fits =
      (array.ndim() == 2 && static_cast<std::int64_t>(array.shape(1)) == width) || (array.ndim() == 1 && width == 1);
  require_shape(fits, name, shape_of(array), width == 1 ? "(batch) or (batch, 1)" : fmt::format("(batch, {})", width));
  return {array.data(), static_cast<std::int64_t>(array.shape(0)), width};
}

MutablePointRows rows_of(const Writes<std::int64_t>& array, std::int64_t size, std::int64_t width, const char* name) {
  require_shape(has_shape(array, {size, width}), name, shape_of(array), fmt::format("({}, {})", size, width));
  return {array.data(), size, width};
}

std::span<double> numbers_of(const Writes<double>& array, std::int64_t size, const char* name) {
  require_shape(has_shape(array, {size}), name, shape_of(array), fmt::format("({})", size));
  return {array.data(), as_size(size)};
}

LogBeliefRows beliefs_of(const Reads<double>& array, const Space& worlds, const char* name) {
  const auto width = worlds.largest_domain();
  const bool fits = array.ndim() == 3 && static_cast<std::int64_t>(array.shape(1)) == worlds.variables() &&
                    static_cast<std::int64_t>(array.shape(2)) == width;
  require_shape(fits, name, shape_of(array), fmt::format("(batch, {}, {})", worlds.variables(), width));
  return {array.data(), static_cast<std::int64_t>(array.shape(0)), worlds.variables(), width};
}

GradientRows gradient_of(const Writes<double>& array, const LogBeliefRows& like, const char* name) {
  require_shape(has_shape(array, {like.size, like.variables, like.width}), name, shape_of(array),
                fmt::format("({}, {}, {})", like.size, like.variables, like.width));
  return {array.data(), like.size, like.variables, like.width};
}

void check_values(PointRows rows, const Space& space, Allowed allowed, const char* name) {
  const auto* value = rows.data();
  const auto& domains = space.domains();
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    for (std::int64_t variable = 0; variable < rows.width(); ++variable, ++value) {
      if (*value >= 0 && *value < domains[as_size(variable)]) continue;
      if (allowed.unset && *value == kUnset) continue;
      if (allowed.end && *value == kNone && variable > 0) continue;
      throw UsageError(fmt::format("{}: example {} has {} at variable {}, which has the values 0 to {}", name, row,
                                   *value, variable, space.domain(variable) - 1));
    }
  }
}

Gives<std::int64_t> give(const Points& points) {
  return give(points.values(), {as_size(points.size()), as_size(points.width())});
}

Gives<double> give(const Matrix<double>& numbers) {
  return give(numbers.values(), {as_size(numbers.size()), as_size(numbers.width())});
}

nb::object object_of(const Array& array) {
  auto* const kept = new Array(array);
  const nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<Array*>(held); });
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  return nb::cast(
      nb::ndarray<nb::numpy>(kept->data(), shape.size(), shape.data(), owner, nullptr, dtype_of(array.type())));
}

Array array_of(nb::handle array, const std::string& name) {
  AnyReads numbers;
  if (!nb::try_cast(array, numbers)) throw UsageError(name + ": an array in one piece, on the CPU, is expected");
  std::vector<std::int64_t> shape;
  for (std::size_t place = 0; place < numbers.ndim(); ++place) {
    shape.push_back(static_cast<std::int64_t>(numbers.shape(place)));
  }
  for (std::size_t index = 0; index < kNumberTypes.size(); ++index) {
    const auto type = static_cast<NumberType>(index);
    if (numbers.dtype() != dtype_of(type)) continue;
    Array copy(type, std::move(shape));
    if (copy.bytes() > 0) std::memcpy(copy.data(), numbers.data(), as_size(copy.bytes()));
    return copy;
  }
  throw UsageError(name + ": numbers of such a type cannot be kept");
}

nb::dict dict_of(const NamedArrays& arrays) {
  nb::dict dict;
  for (const auto& [name, array] : arrays) dict[name.c_str()] = object_of(array);
  return dict;
}

NamedArrays arrays_of(const nb::dict& arrays) {
  NamedArrays named;
  for (const auto& [name, array] : arrays) {
    const auto text = nb::cast<std::string>(name);
    named.emplace(text, array_of(array, text));
  }
  return named;
}

}  // namespace anesi::python

#include "anesi/core/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr std::align_val_t kAlignment{64};

double of_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

double of_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <typename T, typename Convert>
std::vector<double> converted(const Array& array, Convert convert) {
  const auto* const numbers = static_cast<const T*>(array.data());
  std::vector<double> doubles(static_cast<std::size_t>(array.count()));
  std::transform(numbers, numbers + doubles.size(), doubles.begin(), convert);
  return doubles;
}

template <typename T>
std::vector<double> cast(const Array& array) {
  return converted<T>(array, [](T number) { return static_cast<double>(number); });
}

}  // namespace

Array::Array(NumberType type, std::vector<std::int64_t> shape) : type_(type), shape_(std::move(shape)) {
  const auto size = static_cast<std::size_t>(bytes());
  void* const memory = ::operator new(size, kAlignment, std::nothrow);
  if (memory == nullptr) throw Error(fmt::format("there is not enough memory for {}", to_string()));
  data_ = std::shared_ptr<void>(memory, [](void* held) { ::operator delete(held, kAlignment); });
}

Array::Array(NumberType type, std::vector<std::int64_t> shape, std::shared_ptr<void> data)
    : type_(type), shape_(std::move(shape)), data_(std::move(data)) {}

std::int64_t Array::count() const {
  std::int64_t product = 1;
  for (const auto size : shape_) product *= size;
  return product;
}

std::string Array::to_string() const { return fmt::format("{} [{}]", facts_of(type_).name, fmt::join(shape_, ", ")); }

bool Array::operator==(const Array& other) const {
  return type_ == other.type_ && shape_ == other.shape_ &&
         (bytes() == 0 || std::memcmp(data(), other.data(), static_cast<std::size_t>(bytes())) == 0);
}

void Array::require(NumberType type) const {
  if (type != type_) throw Error(fmt::format("an array of {} is none of {}", to_string(), facts_of(type).name));
}

void Array::copy_from(const void* values, std::size_t count) {
  if (static_cast<std::int64_t>(count) != this->count()) {
    throw Error(fmt::format("{} values for an array of {}", count, to_string()));
  }
  if (count > 0) std::memcpy(data_.get(), values, static_cast<std::size_t>(bytes()));
}

namespace {

std::size_t bytes_of_row(const Array& array) {
  std::int64_t bytes = facts_of(array.type()).bytes;
  for (std::size_t place = 1; place < array.shape().size(); ++place) bytes *= array.shape()[place];
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Array rows_of(const Array& array, std::span<const std::int64_t> rows) {
  auto shape = array.shape();
  shape[0] = std::ssize(rows);
  Array result(array.type(), shape);
  const auto size = bytes_of_row(array);
  auto* to = static_cast<std::byte*>(result.data());
  for (const auto row : rows) {
    std::memcpy(to, static_cast<const std::byte*>(array.data()) + static_cast<std::size_t>(row) * size, size);
    to += size;
  }
  return result;
}

Array joined(const Array& one, const Array& other) {
  auto shape = one.shape();
  shape[0] += other.shape()[0];
  Array result(one.type(), shape);
  if (result.bytes() != one.bytes() + other.bytes() || one.type() != other.type()) {
    throw Error(fmt::format("an array of {} cannot follow one of {}", other.to_string(), one.to_string()));
  }
  auto* const to = static_cast<std::byte*>(result.data());
  if (one.bytes() > 0) std::memcpy(to, one.data(), static_cast<std::size_t>(one.bytes()));
  if (other.bytes() > 0) std::memcpy(to + one.bytes(), other.data(), static_cast<std::size_t>(other.bytes()));
  return result;
}

std::vector<double> doubles_of(const Array& array) {
  switch (array.type()) {
    case NumberType::kFloat64:
      return cast<double>(array);
    case NumberType::kFloat32:
      return cast<float>(array);
    case NumberType::kFloat16:
      return converted<std::uint16_t>(array, of_float16);
    case NumberType::kBFloat16:
      return converted<std::uint16_t>(array, of_bfloat16);
    case NumberType::kInt64:
      return cast<std::int64_t>(array);
    case NumberType::kInt32:
      return cast<std::int32_t>(array);
    case NumberType::kInt16:
      return cast<std::int16_t>(array);
    case NumberType::kInt8:
      return cast<std::int8_t>(array);
    case NumberType::kUInt8:
      return cast<std::uint8_t>(array);
    case NumberType::kBool:
      return cast<bool>(array);
  }
  throw Error("an array of an unknown type");
}

}  // namespace anesi

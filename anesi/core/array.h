// Arrays of numbers as files hold them: any shape, any of the usual types, in one piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

enum class NumberType { kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt16, kInt8, kUInt8, kBool };

struct NumberTypeFacts {
  std::string_view name;  // as NumPy has it
  std::int64_t bytes;     // of a number
};
inline constexpr std::array<NumberTypeFacts, 10> kNumberTypes{{{"float64", 8},
                                                               {"float32", 4},
                                                               {"float16", 2},
                                                               {"bfloat16", 2},
                                                               {"int64", 8},
                                                               {"int32", 4},
                                                               {"int16", 2},
                                                               {"int8", 1},
                                                               {"uint8", 1},
                                                               {"bool", 1}}};
constexpr const NumberTypeFacts& facts_of(NumberType type) { return kNumberTypes[static_cast<std::size_t>(type)]; }

// The type of the numbers that are kept as T.
template <typename T>
constexpr NumberType number_type();
template <>
constexpr NumberType number_type<double>() {
  return NumberType::kFloat64;
}
template <>
constexpr NumberType number_type<float>() {
  return NumberType::kFloat32;
}
template <>
constexpr NumberType number_type<std::int64_t>() {
  return NumberType::kInt64;
}
template <>
constexpr NumberType number_type<std::int32_t>() {
  return NumberType::kInt32;
}
template <>
constexpr NumberType number_type<std::int16_t>() {
  return NumberType::kInt16;
}
template <>
constexpr NumberType number_type<std::int8_t>() {
  return NumberType::kInt8;
}
template <>
constexpr NumberType number_type<std::uint8_t>() {
  return NumberType::kUInt8;
}
template <>
constexpr NumberType number_type<bool>() {
  return NumberType::kBool;
}

// Copies share their numbers.
class Array {
 public:
  Array() : Array(NumberType::kFloat32, {0}) {}
  // Of numbers that are yet to be written. Throws Error where there is no memory for that many.
  Array(NumberType type, std::vector<std::int64_t> shape);
  // Of numbers that somebody else keeps, aligned for their type.
  Array(NumberType type, std::vector<std::int64_t> shape, std::shared_ptr<void> data);
  // Throws Error where there are more or fewer values than the shape has places.
  template <typename T>
  static Array of(std::vector<std::int64_t> shape, std::span<const T> values);

  NumberType type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t dimensions() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t count() const;  // of numbers
  std::int64_t bytes() const { return count() * facts_of(type_).bytes; }
  std::string to_string() const;  // "float32 [3, 5]"

  const void* data() const { return data_.get(); }
  void* data() { return data_.get(); }
  const std::shared_ptr<void>& shared_data() const { return data_; }
  // Throws Error where the numbers are of another type.
  template <typename T>
  std::span<const T> values() const {
    require(number_type<T>());
    return {static_cast<const T*>(data_.get()), static_cast<std::size_t>(count())};
  }
  template <typename T>
  std::span<T> values() {
    require(number_type<T>());
    return {static_cast<T*>(data_.get()), static_cast<std::size_t>(count())};
  }

  // Same type, shape and bytes.
  bool operator==(const Array& other) const;

 private:
  void require(NumberType type) const;
  void copy_from(const void* values, std::size_t count);

  NumberType type_;
  std::vector<std::int64_t> shape_;
  std::shared_ptr<void> data_;
};

template <typename T>
Array Array::of(std::vector<std::int64_t> shape, std::span<const T> values) {
  Array array(number_type<T>(), std::move(shape));
  array.copy_from(values.data(), values.size());
  return array;
}

// A new array of some rows, by the first dimension.
Array rows_of(const Array& array, std::span<const std::int64_t> rows);
// The rows of one array and then of another, which has the same type and shape but for the first dimension.
Array joined(const Array& one, const Array& other);

// The numbers of an array of any type.
std::vector<double> doubles_of(const Array& array);

using NamedArrays = std::map<std::string, Array>;

}  // namespace anesi

// Arrays as they cross from Python: on the CPU, in one piece, without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "anesi/core/array.h"
#include "anesi/core/rows.h"
#include "anesi/exact/backend.h"

namespace anesi::python {

namespace nb = nanobind;

// What is read: NumPy's arrays or anything that speaks DLPack. What is written is the caller's own array.
template <typename T>
using Reads = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <typename T>
using Writes = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using AnyReads = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using AnyWrites = nb::ndarray<nb::c_contig, nb::device::cpu>;
// What is given to Python.
template <typename T>
using Gives = nb::ndarray<nb::numpy, T>;

// "(2, 3)"
template <typename Array>
std::string shape_of(const Array& array) {
  std::string shape = "(";
  for (std::size_t place = 0; place < array.ndim(); ++place) {
    shape += (place > 0 ? ", " : "") + std::to_string(array.shape(place));
  }
  return shape + ")";
}

// Throws UsageError, which names the array, unless it has this shape.
void require_shape(bool fits, const std::string& name, const std::string& shape, const std::string& expected);

// Rows of so many numbers. [n] will do for [n, 1].
PointRows rows_of(const Reads<std::int64_t>& array, std::int64_t width, const char* name);
MutablePointRows rows_of(const Writes<std::int64_t>& array, std::int64_t size, std::int64_t width, const char* name);
std::span<double> numbers_of(const Writes<double>& array, std::int64_t size, const char* name);
// [size, variables, width]
LogBeliefRows beliefs_of(const Reads<double>& array, const Space& worlds, const char* name);
GradientRows gradient_of(const Writes<double>& array, const LogBeliefRows& like, const char* name);

// Throws UsageError, which names the example and the variable, if a value lies outside its space. kNone may stand past
// the end if outputs end, kUnset where a variable is open.
struct Allowed {
  bool end = false, unset = false;
};
void check_values(PointRows rows, const Space& space, Allowed allowed, const char* name);

// A new array of Python's. The caller has the lock.
template <typename T>
Gives<T> give(std::vector<T> numbers, const std::vector<std::size_t>& shape) {
  auto* const kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  return Gives<T>(kept->data(), shape.size(), shape.data(), owner);
}
Gives<std::int64_t> give(const Points& points);
Gives<double> give(const Matrix<double>& numbers);

// Arrays by name, as files and other processes get them. bfloat16 has no NumPy type, so it cannot be given.
nb::dict dict_of(const NamedArrays& arrays);
NamedArrays arrays_of(const nb::dict& arrays);
nb::object object_of(const Array& array);
Array array_of(nb::handle array, const std::string& name);

}  // namespace anesi::python

// Damage to arrays of whole numbers, for tests that whoever loads them survives anything.
#pragma once

#include <algorithm>
#include <vector>

#include "anesi/core/array.h"

namespace anesi::toys {

template <typename Change>
Array changed(const Array& array, Change change) {
  const auto of = [&]<typename T>(std::span<const T> values) {
    std::vector<T> numbers(values.begin(), values.end());
    change(numbers);
    return Array::of<T>({std::ssize(numbers)}, numbers);
  };
  if (array.type() == NumberType::kInt64) return of(array.values<std::int64_t>());
  if (array.type() == NumberType::kInt32) return of(array.values<std::int32_t>());
  return of(array.values<std::uint8_t>());
}

// Its numbers, and again.
inline Array twice(const Array& array) {
  return changed(array, [](auto& numbers) {
    const auto once = numbers;
    numbers.insert(numbers.end(), once.begin(), once.end());
  });
}

inline Array raised(const Array& array, int by) {
  return changed(array, [&](auto& numbers) {
    for (auto& number : numbers) number = static_cast<std::decay_t<decltype(number)>>(number + by);
  });
}

}  // namespace anesi::toys

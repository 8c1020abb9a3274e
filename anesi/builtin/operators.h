// The operators + - x, drawn by a program to look as if written beside MNIST's digits.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/array.h"

namespace anesi {

inline constexpr std::int64_t kPlus = 0, kMinus = 1, kTimes = 2, kOperators = 3;

struct OperatorImages {
  Array images;                      // uint8 [count, 28, 28], white on black
  std::vector<std::int64_t> labels;  // each operator equally likely
};

// The same count and seed give the same images.
OperatorImages render_operators(std::int64_t count, std::uint64_t seed);

}  // namespace anesi

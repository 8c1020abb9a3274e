// Outputs that each are of two world variables alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace anesi {

using VariablePair = std::array<std::int64_t, 2>;

// A fact: which two, in the order of the outputs. Buys the architecture `pairwise`.
struct VariablePairs {
  std::vector<VariablePair> pairs;
};

}  // namespace anesi

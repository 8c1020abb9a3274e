// Outputs that each are of two world variables alone.
#pragma once

#include <torch/types.h>

#include <array>
#include <vector>

namespace anesi {

using VariablePair = std::array<std::int64_t, 2>;

// A fact: which two, in the order of the outputs. Buys the architecture `pairwise`.
struct VariablePairs {
  std::vector<VariablePair> pairs;
};

// The variables of all pairs, int64 [2, pairs]: those named first, then those named second.
inline torch::Tensor pair_columns(const std::vector<VariablePair>& pairs) {
  auto columns = torch::empty({2, static_cast<std::int64_t>(pairs.size())}, torch::kInt64);
  auto entries = columns.accessor<std::int64_t, 2>();
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    for (std::size_t side = 0; side < 2; ++side) {
      entries[static_cast<std::int64_t>(side)][static_cast<std::int64_t>(pair)] = pairs[pair][side];
    }
  }
  return columns;
}

}  // namespace anesi

// soft_min_sweeps put together from torch's operations: what tests and benchmarks compare it with.
#pragma once

#include <vector>

#include "anesi/core/grid_walk.h"
#include "anesi/models/soft_min_sweeps.h"

namespace anesi {

inline torch::Tensor soft_min_sweeps_composed(const torch::Tensor& costs, const torch::Tensor& temperatures,
                                              const torch::Tensor& goals, std::int64_t sweeps) {
  const auto side = costs.size(2);
  const auto passable = torch::ones({costs.size(0), side * side}, costs.options())
                            .scatter(1, goals.unsqueeze(1), 0)
                            .view({costs.size(0), 1, side, side});
  const auto temperature = temperatures.view({1, 1, -1, 1, 1});
  auto values = (passable * kFar).expand_as(costs);
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const auto framed = torch::constant_pad_nd(values, {1, 1, 1, 1}, 1e5);
    std::vector<torch::Tensor> around;
    for (const auto [row, column] : GridWalk::kOffsets) {
      around.push_back(framed.slice(2, 1 + row, 1 + row + side).slice(3, 1 + column, 1 + column + side));
    }
    const auto soft = -temperature[0] * torch::logsumexp(-torch::stack(around) / temperature, 0);
    values = passable * (costs + soft);
  }
  return values;
}

}  // namespace anesi

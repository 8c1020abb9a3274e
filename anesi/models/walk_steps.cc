#include "anesi/models/walk_steps.h"

#include <cmath>
#include <vector>

namespace anesi {

torch::Tensor cells_around(std::int64_t side) {
  const GridWalk walk{.side = side};
  auto around = torch::empty({walk.cells(), kDirections}, torch::kInt64);
  auto cells = around.accessor<std::int64_t, 2>();
  for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
    for (std::int64_t direction = 0; direction < kDirections; ++direction) {
      cells[cell][direction] = walk.step(cell, direction);
    }
  }
  return around;
}

torch::Tensor walk_ends(const GridWalk& walk, const Context& context) {
  if (context.given.defined()) return context.given;
  return torch::tensor({walk.start, walk.goal}, context.beliefs.options().dtype(torch::kInt64))
      .expand({context.size(), 2});
}

std::int64_t side_of(const torch::Tensor& beliefs) {
  return std::llround(std::sqrt(static_cast<double>(beliefs.size(1))));
}

WalkSteps walk_steps(const torch::Tensor& values, const torch::Tensor& given, std::int64_t side) {
  const auto batch = values.size(0), variables = values.size(1);
  const auto walks = values.to(torch::kCPU).contiguous(), ends = given.to(torch::kCPU).contiguous();
  std::vector<std::int64_t> rows, cells, directions;
  auto strayed = torch::zeros({batch}, torch::kBool);
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto* const taken = walks.const_data_ptr<std::int64_t>() + row * variables;
    const auto* const end = ends.const_data_ptr<std::int64_t>() + row * 2;
    const GridWalk walk{side, end[0], end[1]};
    const auto first = rows.size();
    auto cell = walk.start;
    std::int64_t step = 0;
    for (; step < variables && cell != walk.goal && cell != kNone && taken[step] != kNone; ++step) {
      rows.push_back(row);
      cells.push_back(cell);
      directions.push_back(taken[step]);
      cell = walk.step(cell, taken[step]);
    }
    if (cell != kNone && (step == variables || (taken[step] == kNone && cell == walk.goal))) continue;
    strayed[row] = true;
    for (auto* numbers : {&rows, &cells, &directions}) numbers->resize(first);
  }
  const auto on_device = [&](const std::vector<std::int64_t>& numbers) {
    return torch::tensor(numbers, torch::kInt64).to(values.device());
  };
  return {on_device(rows), on_device(cells), on_device(directions), strayed.to(values.device())};
}

}  // namespace anesi

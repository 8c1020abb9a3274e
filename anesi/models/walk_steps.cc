#include "anesi/models/walk_steps.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "anesi/core/error.h"

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

SeenGrid seen_grid(const torch::Tensor& beliefs, std::int64_t values, const GridWalk& walk) {
  const auto variables = beliefs.size(1);
  // No square is larger than another by four, but that of nothing.
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(variables) + 0.5));
  const auto cells = side * side;
  SeenGrid seen{.side = side, .cells = beliefs.slice(1, 0, cells).slice(2, 0, values), .ends = {}};
  if (variables == cells) {
    seen.ends =
        torch::tensor({walk.start, walk.goal}, beliefs.options().dtype(torch::kInt64)).expand({beliefs.size(0), 2});
  } else if (variables == cells + kEndVariables) {
    const auto places = beliefs.detach().slice(1, cells).argmax(2).view({-1, 2, 2});  // row and column of each end
    seen.ends = places.select(2, 0) * side + places.select(2, 1);
  } else {
    throw UsageError(fmt::format("beliefs in {} variables are not those in the cells of a square grid", variables));
  }
  return seen;
}

WalkSteps walk_steps(const torch::Tensor& values, const torch::Tensor& ends_of_walks, std::int64_t side) {
  const auto batch = values.size(0), variables = values.size(1);
  const auto walks = values.to(torch::kCPU).contiguous(), ends = ends_of_walks.to(torch::kCPU).contiguous();
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

#include "anesi/tasks/warcraft/windows.h"

#include <algorithm>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::size_t kShortestRest = 4;  // a piece begins at least so many steps before the goal, where there are

// The lowest and highest of some rows or columns.
struct Extent {
  std::int64_t low, high;
  bool fits(std::int64_t at, std::int64_t side) const { return std::max(high, at) - std::min(low, at) < side; }
  void add(std::int64_t at) {
    low = std::min(low, at);
    high = std::max(high, at);
  }
  // Where a window that holds it may begin on a map.
  std::int64_t origin(std::int64_t side, std::int64_t map_side, Random& random) const {
    const auto first = std::max<std::int64_t>(0, high - side + 1), last = std::min(low, map_side - side);
    return first + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(last - first + 1)));
  }
};

// As rows and columns.
void write_ends(std::int64_t start, std::int64_t goal, std::int64_t side, std::int64_t* ends) {
  for (const auto cell : {start, goal}) {
    *ends++ = cell / side;
    *ends++ = cell % side;
  }
}

}  // namespace

Batch draw_windows(const Examples& maps, const torch::Tensor& rows, const GridWalk& walk, std::int64_t side,
                   std::int64_t steps, at::Generator generator) {
  Random random(draw_seed(std::move(generator)));
  const auto batch = rows.size(0);
  auto cells = torch::empty({batch, side * side}, torch::kInt64);  // of the map, for each cell of the window
  auto outputs = torch::full({batch, steps}, kNone, torch::kInt64);
  auto ends = torch::empty({batch, kEndVariables}, torch::kInt64);
  const auto paths = maps.labels().outputs.index_select(0, rows);
  for (std::int64_t example = 0; example < batch; ++example) {
    const auto* const directions = paths.const_data_ptr<std::int64_t>() + example * paths.size(1);
    std::vector<std::int64_t> path{walk.start};
    for (std::int64_t step = 0; step < paths.size(1) && directions[step] != kNone; ++step) {
      path.push_back(walk.step(path.back(), directions[step]));
    }
    const auto begin = random.below(std::max<std::size_t>(1, path.size() - std::min(path.size(), kShortestRest)));
    auto end = begin + 1;
    Extent down{path[begin] / walk.side, path[begin] / walk.side},
        across{path[begin] % walk.side, path[begin] % walk.side};
    while (end < path.size() && down.fits(path[end] / walk.side, side) && across.fits(path[end] % walk.side, side)) {
      down.add(path[end] / walk.side);
      across.add(path[end] % walk.side);
      ++end;
    }
    const auto top = down.origin(side, walk.side, random), left = across.origin(side, walk.side, random);
    const auto within = [&](std::int64_t cell) { return (cell / walk.side - top) * side + cell % walk.side - left; };
    auto* const of_map = cells.mutable_data_ptr<std::int64_t>() + example * side * side;
    for (std::int64_t cell = 0; cell < side * side; ++cell) {
      of_map[cell] = (top + cell / side) * walk.side + left + cell % side;
    }
    std::copy(directions + begin, directions + end - 1, outputs.mutable_data_ptr<std::int64_t>() + example * steps);
    write_ends(within(path[begin]), within(path[end - 1]), side,
               ends.mutable_data_ptr<std::int64_t>() + example * kEndVariables);
  }
  const auto inputs = maps.inputs_of(rows.repeat_interleave(side * side), cells.view(-1));  // [batch * cells, 1, …]
  std::vector<std::int64_t> shape{batch, side * side};
  shape.insert(shape.end(), inputs.sizes().begin() + 2, inputs.sizes().end());
  const auto worlds = maps.worlds().index_select(0, rows).gather(1, cells);
  return {inputs.view(shape), Observations(outputs), torch::cat({worlds, ends}, 1), ends};
}

Batch whole_maps(const Examples& maps, const torch::Tensor& rows, const GridWalk& walk) {
  auto batch = maps.batch(rows);
  auto ends = torch::empty({1, kEndVariables}, torch::kInt64);
  write_ends(walk.start, walk.goal, walk.side, ends.mutable_data_ptr<std::int64_t>());
  batch.known = ends.expand({rows.size(0), kEndVariables}).contiguous();
  if (batch.worlds.defined()) batch.worlds = torch::cat({batch.worlds, batch.known}, 1);
  return batch;
}

}  // namespace anesi

#include "anesi/tasks/warcraft/path_planning.h"

#include <algorithm>
#include <limits>

#include "anesi/core/thread_pool.h"
#include "anesi/pruners/walk_pruner.h"
#include "anesi/tasks/warcraft/shortest_path.h"
#include "anesi/tasks/warcraft/terrain.h"

namespace anesi {
namespace {

// How long a cheapest path can be: it costs no more than the diagonal of a map that is dear everywhere, and no cell is
// for less than the cheapest.
std::int64_t longest_path(std::int64_t side) {
  const auto [cheapest, dearest] = std::ranges::minmax(kTerrainCosts);
  return std::max<std::int64_t>(1, std::min(side * side, side * dearest / cheapest) - 1);
}

// Solves every world of a batch for its query and tells what was found: tell(row, paths, walk).
template <typename Tell>
void solve_each(const torch::Tensor& worlds, const torch::Tensor& queries, std::int64_t side, Tell tell) {
  const auto in = worlds.to(torch::kCPU).contiguous(), ends = queries.to(torch::kCPU).contiguous();
  const auto cells = static_cast<std::size_t>(side * side);
  const auto *const world = in.const_data_ptr<std::int64_t>(), *const query = ends.const_data_ptr<std::int64_t>();
  parallel_for(worlds.size(0), 16, [&](std::int64_t begin, std::int64_t end) {
    ShortestPaths paths(side);
    std::vector<std::uint8_t> costs(cells);
    for (auto row = begin; row < end; ++row) {
      const GridWalk walk{side, query[2 * row], query[2 * row + 1]};
      std::transform(world + row * walk.cells(), world + (row + 1) * walk.cells(), costs.begin(),
                     [](std::int64_t terrain) { return kTerrainCosts[static_cast<std::size_t>(terrain)]; });
      paths.solve(costs, walk.goal);
      tell(row, paths, walk);
    }
  });
}

void write_path(const ShortestPaths& paths, const GridWalk& walk, std::int64_t* output) {
  for (auto cell = walk.start; cell != walk.goal; ++output) {
    *output = paths.direction(cell);
    cell = walk.step(cell, *output);
  }
}

}  // namespace

PathPlanning::PathPlanning(std::int64_t side)
    : walk_{.side = side, .start = 0, .goal = side * side - 1},
      worlds_(Space::uniform(side * side, kTerrains)),
      outputs_(Space::uniform(longest_path(side), kDirections)) {}

torch::Tensor PathPlanning::corners(std::int64_t count) const {
  return torch::tensor({walk_.start, walk_.goal}).expand({count, 2});
}

void PathPlanning::apply(Values world, MutableValues output) const {
  const auto row = torch::tensor(std::vector<std::int64_t>(world.begin(), world.end())).unsqueeze(0);
  const auto path = answer(row, corners(1));
  std::copy_n(path.const_data_ptr<std::int64_t>(), output.size(), output.begin());
}

torch::Tensor PathPlanning::apply_batch(const torch::Tensor& worlds) const {
  return answer(worlds, corners(worlds.size(0)));
}

torch::Tensor PathPlanning::draw_queries(std::int64_t count, at::Generator generator) const {
  constexpr double kCorners = 0.4;
  const auto random = torch::randint(walk_.cells(), {count, 2}, generator, torch::kInt64);
  return torch::where(torch::rand({count, 1}, generator) < kCorners, corners(count), random);
}

torch::Tensor PathPlanning::answer(const torch::Tensor& worlds, const torch::Tensor& queries) const {
  auto result = torch::full({worlds.size(0), outputs_.variables()}, kNone, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  solve_each(worlds, queries, walk_.side, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    write_path(paths, walk, out + row * outputs_.variables());
  });
  return result.to(worlds.device());
}

torch::Tensor PathPlanning::trace(const torch::Tensor& worlds, const torch::Tensor& queries) const {
  auto result = torch::empty({worlds.size(0), walk_.cells()}, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  const auto asked = queries.defined() ? queries : corners(worlds.size(0));
  solve_each(worlds, asked, walk_.side, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
      out[row * walk.cells() + cell] = cell == walk.goal ? kUnset : paths.direction(cell);
    }
  });
  return result.to(worlds.device());
}

std::unique_ptr<Pruner> PathPlanning::pruner() const { return make_walk_pruner(walk_); }

torch::Tensor PathPlanning::regret(const torch::Tensor& worlds, const torch::Tensor& outputs) const {
  const auto in = worlds.to(torch::kCPU).contiguous(), paths = outputs.to(torch::kCPU).contiguous();
  auto result = torch::empty({worlds.size(0)});
  auto* const out = result.mutable_data_ptr<float>();
  const auto row_of = [](const torch::Tensor& matrix, std::int64_t row) {
    return Values(matrix.const_data_ptr<std::int64_t>() + row * matrix.size(1),
                  static_cast<std::size_t>(matrix.size(1)));
  };
  solve_each(worlds, corners(worlds.size(0)), walk_.side,
             [&](std::int64_t row, const ShortestPaths& solved, const GridWalk& walk) {
               const auto taken = cost(row_of(in, row), row_of(paths, row));
               out[row] = taken == kNone ? std::numeric_limits<float>::infinity()
                                         : static_cast<float>(taken - solved.cost(walk.start));
             });
  return result.to(outputs.device());
}

torch::Tensor PathPlanning::distance(const torch::Tensor& outputs, const torch::Tensor& wanted) const {
  const auto on_path = [&](const torch::Tensor& paths) {
    const auto rows = paths.to(torch::kCPU).contiguous();
    auto cells = torch::zeros({rows.size(0), walk_.cells()});
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      const auto* step = rows.const_data_ptr<std::int64_t>() + row * rows.size(1);
      auto* const marks = cells.mutable_data_ptr<float>() + row * walk_.cells();
      auto cell = walk_.start;
      marks[cell] = 1;
      for (std::int64_t at = 0; at < rows.size(1) && step[at] != kNone; ++at) {
        cell = walk_.step(cell, step[at]);
        if (cell == kNone) break;
        marks[cell] = 1;
      }
    }
    return cells;
  };
  return (on_path(outputs) - on_path(wanted)).abs().sum(1).to(outputs.device());
}

std::int64_t PathPlanning::cost(Values world, Values path) const {
  auto cell = walk_.start;
  const auto cost_of = [&](std::int64_t at) {
    return kTerrainCosts[static_cast<std::size_t>(world[static_cast<std::size_t>(at)])];
  };
  std::int64_t total = cost_of(cell);
  for (const auto direction : path) {
    if (direction == kNone) break;
    cell = walk_.step(cell, direction);
    if (cell == kNone) return kNone;
    total += cost_of(cell);
  }
  return cell == walk_.goal ? total : kNone;
}

}  // namespace anesi

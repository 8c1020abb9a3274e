#include "anesi/tasks/warcraft/path_planning.h"

#include <algorithm>
#include <limits>

#include "anesi/core/given.h"
#include "anesi/core/rows.h"
#include "anesi/core/score.h"
#include "anesi/core/thread_pool.h"
#include "anesi/models/trace.h"
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

// Start and goal of each row, int64 [count, 2]: those that are given, or the map's own.
torch::Tensor ends_of(const torch::Tensor& given, const GridWalk& walk, std::int64_t count) {
  return given.defined() ? given : torch::tensor({walk.start, walk.goal}).expand({count, 2});
}

// Solves every world of a batch between its ends and tells what was found: tell(row, paths, walk).
template <typename Tell>
void solve_each(const torch::Tensor& worlds, const torch::Tensor& given, const GridWalk& own, Tell tell) {
  const auto in = worlds.to(torch::kCPU).contiguous();
  const auto ends = ends_of(given, own, worlds.size(0)).to(torch::kCPU).contiguous();
  const auto side = own.side;
  parallel_for(worlds.size(0), 16, [&](std::int64_t begin, std::int64_t end) {
    ShortestPaths paths(side);
    std::vector<std::uint8_t> costs(static_cast<std::size_t>(side * side));
    for (auto row = begin; row < end; ++row) {
      const auto between = row_of(ends, row);
      const GridWalk walk{side, between[0], between[1]};
      std::ranges::transform(row_of(in, row), costs.begin(),
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

std::int64_t cost_of(const GridWalk& walk, Values world, Values path) {
  auto cell = walk.start;
  const auto crossing = [&](std::int64_t at) {
    return kTerrainCosts[static_cast<std::size_t>(world[static_cast<std::size_t>(at)])];
  };
  std::int64_t total = crossing(cell);
  for (const auto direction : path) {
    if (direction == kNone) break;
    cell = walk.step(cell, direction);
    if (cell == kNone) return kNone;
    total += crossing(cell);
  }
  return cell == walk.goal ? total : kNone;
}

// Two in five are the map's own corners, the others any two cells.
torch::Tensor draw_ends(const GridWalk& walk, std::int64_t count, const at::Generator& generator) {
  constexpr double kCorners = 0.4;
  const auto random = torch::randint(walk.cells(), {count, 2}, generator, torch::kInt64);
  return torch::where(torch::rand({count, 1}, generator) < kCorners, ends_of({}, walk, count), random);
}

// The direction from every cell to the goal, int64 [batch, cells]; kUnset at the goal.
torch::Tensor directions(const GridWalk& own, const torch::Tensor& worlds, const torch::Tensor& given) {
  auto result = torch::empty({worlds.size(0), own.cells()}, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  solve_each(worlds, given, own, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
      out[row * walk.cells() + cell] = cell == walk.goal ? kUnset : paths.direction(cell);
    }
  });
  return result.to(worlds.device());
}

torch::Tensor regret_of(const GridWalk& own, const torch::Tensor& worlds, const torch::Tensor& outputs,
                        const torch::Tensor& given) {
  const auto in = worlds.to(torch::kCPU).contiguous(), paths = outputs.to(torch::kCPU).contiguous();
  auto result = torch::empty({worlds.size(0)});
  auto* const out = result.mutable_data_ptr<float>();
  solve_each(worlds, given, own, [&](std::int64_t row, const ShortestPaths& solved, const GridWalk& walk) {
    const auto taken = cost_of(walk, row_of(in, row), row_of(paths, row));
    out[row] =
        taken == kNone ? std::numeric_limits<float>::infinity() : static_cast<float>(taken - solved.cost(walk.start));
  });
  return result.to(outputs.device());
}

// Which cells walks cross, float [batch, cells].
torch::Tensor crossed(const GridWalk& own, const torch::Tensor& outputs, const torch::Tensor& given) {
  const auto paths = outputs.to(torch::kCPU).contiguous();
  const auto ends = ends_of(given, own, paths.size(0)).to(torch::kCPU).contiguous();
  auto cells = torch::zeros({paths.size(0), own.cells()});
  for (std::int64_t row = 0; row < paths.size(0); ++row) {
    auto* const marks = cells.mutable_data_ptr<float>() + row * own.cells();
    auto cell = row_of(ends, row)[0];
    marks[cell] = 1;
    for (const auto direction : row_of(paths, row)) {
      if (direction == kNone) break;
      cell = own.step(cell, direction);
      if (cell == kNone) break;
      marks[cell] = 1;
    }
  }
  return cells;
}

}  // namespace

PathPlanning::PathPlanning(std::int64_t side)
    : walk_{.side = side, .start = 0, .goal = side * side - 1},
      worlds_(Space::uniform(side * side, kTerrains)),
      outputs_(Space::uniform(longest_path(side), kDirections)) {
  const auto walk = walk_;
  facts_.with(walk)
      .with(Given{
          Space::uniform(2, walk.cells()),
          [walk](std::int64_t count, const at::Generator& generator) { return draw_ends(walk, count, generator); }})
      .with(Trace{
          [walk](const torch::Tensor& worlds, const torch::Tensor& given) { return directions(walk, worlds, given); }})
      .with(Score{
          .regret = [walk](const torch::Tensor& worlds, const torch::Tensor& outputs,
                           const torch::Tensor& given) { return regret_of(walk, worlds, outputs, given); },
          .distance =
              [walk](const torch::Tensor& outputs, const torch::Tensor& wanted, const torch::Tensor& given) {
                return (crossed(walk, outputs, given) - crossed(walk, wanted, given)).abs().sum(1).to(outputs.device());
              }})
      .with(make_walk_pruner(walk));
}

torch::Tensor PathPlanning::apply(const torch::Tensor& worlds, const torch::Tensor& given) const {
  auto result = torch::full({worlds.size(0), outputs_.variables()}, kNone, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  solve_each(worlds, given, walk_, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    write_path(paths, walk, out + row * outputs_.variables());
  });
  return result.to(worlds.device());
}

std::int64_t PathPlanning::cost(Values world, Values path) const { return cost_of(walk_, world, path); }

}  // namespace anesi

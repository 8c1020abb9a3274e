#include "anesi/tasks/warcraft/path_planning.h"

#include <algorithm>
#include <limits>

#include "anesi/core/known_variables.h"
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

Space worlds_of(const GridWalk& walk) {
  std::vector<std::int64_t> domains(static_cast<std::size_t>(walk.cells()), kTerrains);
  domains.resize(static_cast<std::size_t>(walk.world_variables()), walk.side);
  return Space(std::move(domains));
}

// Solves every world of a batch and tells what was found: tell(row, paths, walk).
template <typename Tell>
void solve_each(const torch::Tensor& worlds, const GridWalk& grid, Tell tell) {
  const auto in = worlds.to(torch::kCPU).contiguous();
  parallel_for(worlds.size(0), 16, [&](std::int64_t begin, std::int64_t end) {
    ShortestPaths paths(grid.side);
    std::vector<std::uint8_t> costs(static_cast<std::size_t>(grid.cells()));
    for (auto row = begin; row < end; ++row) {
      const auto world = row_of(in, row);
      const auto walk = grid.in(world);
      std::ranges::transform(world.first(costs.size()), costs.begin(),
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

// Rows and columns of two ends. Two in five are the map's own corners, the others any two cells.
torch::Tensor draw_ends(std::int64_t side, std::int64_t count, const at::Generator& generator) {
  constexpr double kCorners = 0.4;
  const auto random = torch::randint(side, {count, kEndVariables}, generator, torch::kInt64);
  const auto corners = torch::tensor({std::int64_t{0}, std::int64_t{0}, side - 1, side - 1});
  return torch::where(torch::rand({count, 1}, generator) < kCorners, corners, random);
}

// The direction from every cell to the goal, int64 [batch, cells]; kUnset at the goal.
torch::Tensor directions(const GridWalk& own, const torch::Tensor& worlds) {
  auto result = torch::empty({worlds.size(0), own.cells()}, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  solve_each(worlds, own, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
      out[row * walk.cells() + cell] = cell == walk.goal ? kUnset : paths.direction(cell);
    }
  });
  return result.to(worlds.device());
}

torch::Tensor regret_of(const GridWalk& own, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto in = worlds.to(torch::kCPU).contiguous(), paths = outputs.to(torch::kCPU).contiguous();
  auto result = torch::empty({worlds.size(0)});
  auto* const out = result.mutable_data_ptr<float>();
  solve_each(worlds, own, [&](std::int64_t row, const ShortestPaths& solved, const GridWalk& walk) {
    const auto taken = cost_of(walk, row_of(in, row), row_of(paths, row));
    out[row] =
        taken == kNone ? std::numeric_limits<float>::infinity() : static_cast<float>(taken - solved.cost(walk.start));
  });
  return result.to(outputs.device());
}

// Which cells walks cross, float [batch, cells].
torch::Tensor crossed(const GridWalk& own, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto in = worlds.to(torch::kCPU).contiguous(), paths = outputs.to(torch::kCPU).contiguous();
  auto cells = torch::zeros({paths.size(0), own.cells()});
  for (std::int64_t row = 0; row < paths.size(0); ++row) {
    auto* const marks = cells.mutable_data_ptr<float>() + row * own.cells();
    auto cell = own.in(row_of(in, row)).start;
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

PathPlanning::PathPlanning(std::int64_t side, PathEnds ends)
    : walk_{.side = side, .start = 0, .goal = side * side - 1, .ends_in_world = ends == PathEnds::kAny},
      worlds_(worlds_of(walk_)),
      outputs_(Space::uniform(longest_path(side), kDirections)) {
  const auto walk = walk_;
  facts_.with(walk)
      .with(Trace{[walk](const torch::Tensor& worlds) { return directions(walk, worlds); }})
      .with(Score{.regret = [walk](const torch::Tensor& worlds,
                                   const torch::Tensor& outputs) { return regret_of(walk, worlds, outputs); },
                  .distance =
                      [walk](const torch::Tensor& worlds, const torch::Tensor& outputs, const torch::Tensor& wanted) {
                        const auto differ = crossed(walk, worlds, outputs) != crossed(walk, worlds, wanted);
                        return differ.sum(1).to(outputs.device(), torch::kFloat32);
                      }});
  if (ends == PathEnds::kCorners) {
    facts_.with(make_walk_pruner(walk));
    return;
  }
  KnownVariables known{.variables = {}, .draw = [side](std::int64_t count, const at::Generator& generator) {
                         return draw_ends(side, count, generator);
                       }};
  for (std::int64_t place = 0; place < kEndVariables; ++place) known.variables.push_back(walk.cells() + place);
  facts_.with(known);
}

torch::Tensor PathPlanning::apply(const torch::Tensor& worlds) const {
  auto result = torch::full({worlds.size(0), outputs_.variables()}, kNone, torch::kInt64);
  auto* const out = result.mutable_data_ptr<std::int64_t>();
  solve_each(worlds, walk_, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    write_path(paths, walk, out + row * outputs_.variables());
  });
  return result.to(worlds.device());
}

std::int64_t PathPlanning::cost(Values world, Values path) const { return cost_of(walk_.in(world), world, path); }

}  // namespace anesi

#include "anesi/builtin/path_planning.h"

#include <algorithm>
#include <limits>

#include "anesi/builtin/shortest_path.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/score.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/trace.h"
#include "anesi/data/terrain.h"
#include "anesi/search/walk_pruner.h"

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
void solve_each(PointRows worlds, const GridWalk& grid, Tell tell) {
  parallel_for(worlds.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    ShortestPaths paths(grid.side);
    std::vector<std::uint8_t> costs(static_cast<std::size_t>(grid.cells()));
    for (auto row = begin; row < end; ++row) {
      const auto world = worlds[row];
      const auto walk = grid.in(world);
      std::ranges::transform(world.first(costs.size()), costs.begin(),
                             [](std::int64_t terrain) { return kTerrainCosts[static_cast<std::size_t>(terrain)]; });
      paths.solve(costs, walk.goal);
      tell(row, paths, walk);
    }
  });
}

void write_path(const ShortestPaths& paths, const GridWalk& walk, MutableValues output) {
  std::size_t step = 0;
  for (auto cell = walk.start; cell != walk.goal; ++step) {
    output[step] = paths.direction(cell);
    cell = walk.step(cell, output[step]);
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
void draw_ends(std::int64_t side, Random& random, MutableValues ends) {
  constexpr double kCorners = 0.4;
  const bool corners = random.uniform() < kCorners;
  for (std::size_t place = 0; place < ends.size(); ++place) {
    const auto any = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(side)));
    ends[place] = !corners ? any : place < 2 ? 0 : side - 1;
  }
}

// The direction from every cell to the goal; kUnset at the goal.
Points directions(const GridWalk& own, PointRows worlds) {
  Points result(worlds.size(), own.cells());
  solve_each(worlds, own, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
      result[row][static_cast<std::size_t>(cell)] = cell == walk.goal ? kUnset : paths.direction(cell);
    }
  });
  return result;
}

std::vector<float> regret_of(const GridWalk& own, PointRows worlds, PointRows outputs) {
  std::vector<float> result(static_cast<std::size_t>(worlds.size()));
  solve_each(worlds, own, [&](std::int64_t row, const ShortestPaths& solved, const GridWalk& walk) {
    const auto taken = cost_of(walk, worlds[row], outputs[row]);
    result[static_cast<std::size_t>(row)] =
        taken == kNone ? std::numeric_limits<float>::infinity() : static_cast<float>(taken - solved.cost(walk.start));
  });
  return result;
}

// How many cells only one of two walks crosses.
std::vector<float> distance_of(const GridWalk& own, PointRows worlds, PointRows outputs, PointRows wanted) {
  std::vector<float> distances;
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    const auto walk = own.in(worlds[row]);
    const auto one = crossed_cells(walk, outputs[row]), other = crossed_cells(walk, wanted[row]);
    float differ = 0;
    for (std::size_t cell = 0; cell < one.size(); ++cell) differ += one[cell] != other[cell] ? 1.0F : 0.0F;
    distances.push_back(differ);
  }
  return distances;
}

}  // namespace

std::vector<bool> crossed_cells(const GridWalk& walk, Values path) {
  std::vector<bool> cells(static_cast<std::size_t>(walk.cells()), false);
  auto cell = walk.start;
  cells[static_cast<std::size_t>(cell)] = true;
  for (const auto direction : path) {
    if (direction == kNone) break;
    cell = walk.step(cell, direction);
    if (cell == kNone) break;
    cells[static_cast<std::size_t>(cell)] = true;
  }
  return cells;
}

PathPlanning::PathPlanning(std::int64_t side, PathEnds ends)
    : walk_{.side = side, .start = 0, .goal = side * side - 1, .ends_in_world = ends == PathEnds::kAny},
      worlds_(worlds_of(walk_)),
      outputs_(Space::uniform(longest_path(side), kDirections)) {
  const auto walk = walk_;
  facts_.with(walk)
      .with(Trace{[walk](PointRows worlds) { return directions(walk, worlds); }})
      .with(Score{.regret = [walk](PointRows worlds, PointRows outputs) { return regret_of(walk, worlds, outputs); },
                  .distance = [walk](PointRows worlds, PointRows outputs,
                                     PointRows wanted) { return distance_of(walk, worlds, outputs, wanted); }});
  if (ends == PathEnds::kCorners) {
    facts_.with(make_walk_pruner(walk));
    return;
  }
  KnownVariables known{.variables = {},
                       .draw = [side](Random& random, MutableValues values) { draw_ends(side, random, values); }};
  for (std::int64_t place = 0; place < kEndVariables; ++place) known.variables.push_back(walk.cells() + place);
  facts_.with(known);
}

void PathPlanning::apply(PointRows worlds, MutablePointRows outputs) const {
  solve_each(worlds, walk_, [&](std::int64_t row, const ShortestPaths& paths, const GridWalk& walk) {
    write_path(paths, walk, outputs[row]);
  });
}

std::int64_t PathPlanning::cost(Values world, Values path) const { return cost_of(walk_.in(world), world, path); }

}  // namespace anesi

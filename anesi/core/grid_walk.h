// Walks over a square grid: what a path planner's outputs are.
//
// Cells are numbered row by row from 0. A step goes to one of the eight cells around, written as a direction from 0 to
// 7. A walk is the directions it takes from its start, and ends at its goal.
#pragma once

#include <array>
#include <cstdint>

#include "anesi/core/space.h"

namespace anesi {

inline constexpr std::int64_t kDirections = 8;

inline constexpr std::int64_t kEndVariables = 4;

// A fact of problems whose worlds are the cells of a grid and whose outputs are walks over it, ended by kNone: that
// grid, with the ends of a walk. Where the world tells the ends, its last four variables do: row and column of the
// start, row and column of the goal.
struct GridWalk {
  std::int64_t side = 0, start = 0, goal = 0;
  bool ends_in_world = false;  // else they are `start` and `goal`

  // Row and column of each direction, in the order in which cells around a cell are looked at: the row above, from left
  // to right, the cells beside, the row below.
  static constexpr std::array<std::array<std::int64_t, 2>, kDirections> kOffsets{
      {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}};

  std::int64_t cells() const { return side * side; }
  std::int64_t world_variables() const { return cells() + (ends_in_world ? kEndVariables : 0); }

  // The same grid with the ends that the world tells.
  GridWalk in(Values world) const {
    if (!ends_in_world) return *this;
    const auto ends = world.last(kEndVariables);
    return {.side = side, .start = ends[0] * side + ends[1], .goal = ends[2] * side + ends[3]};
  }

  // The cell one step away, or kNone where that is off the grid.
  std::int64_t step(std::int64_t cell, std::int64_t direction) const {
    const auto offset = kOffsets[static_cast<std::size_t>(direction)];
    const auto row = cell / side + offset[0], column = cell % side + offset[1];
    return row < 0 || column < 0 || row >= side || column >= side ? kNone : row * side + column;
  }
};

}  // namespace anesi

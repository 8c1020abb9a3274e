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

// A fact of problems whose worlds are the cells of a grid and whose outputs are walks over it, ended by kNone: that
// grid, with the ends of a walk where nothing else is given. (What is given are the two ends.)
struct GridWalk {
  std::int64_t side = 0, start = 0, goal = 0;

  // Row and column of each direction, in the order in which cells around a cell are looked at: the row above, from left
  // to right, the cells beside, the row below.
  static constexpr std::array<std::array<std::int64_t, 2>, kDirections> kOffsets{
      {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}};

  std::int64_t cells() const { return side * side; }

  // The cell one step away, or kNone where that is off the grid.
  std::int64_t step(std::int64_t cell, std::int64_t direction) const {
    const auto offset = kOffsets[static_cast<std::size_t>(direction)];
    const auto row = cell / side + offset[0], column = cell % side + offset[1];
    return row < 0 || column < 0 || row >= side || column >= side ? kNone : row * side + column;
  }
};

}  // namespace anesi

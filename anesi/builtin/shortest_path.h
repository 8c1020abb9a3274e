// Dijkstra's algorithm on a grid of cells that cost something to stand on.
//
// A path costs what its cells cost, both ends included. Costs are whole numbers, so ties are exact: of several shortest
// paths the one is taken that at every cell goes in the first of the best directions. All cells' costs to the goal come
// out of one call. About ten microseconds for 12x12 cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/grid_walk.h"

namespace anesi {

// For one thread: it keeps what it needs between calls.
class ShortestPaths {
 public:
  explicit ShortestPaths(std::int64_t side);

  // Costs of the cells, each from 1 to kLargestCost.
  void solve(std::span<const std::uint8_t> costs, std::int64_t goal);

  // After solve(): what a shortest path from the cell to the goal costs, and the direction it begins with; kNone at the
  // goal.
  std::int32_t cost(std::int64_t cell) const { return to_goal_[place(cell)]; }
  std::int64_t direction(std::int64_t cell) const;

  static constexpr int kLargestCost = 127;

 private:
  static constexpr std::size_t kBuckets = kLargestCost + 1;

  // Cells stand in a frame that nothing ever reaches, so no step needs to look where the grid ends.
  std::size_t place(std::int64_t cell) const {
    return static_cast<std::size_t>((cell / side_ + 1) * (side_ + 2) + cell % side_ + 1);
  }

  std::int64_t side_, goal_ = 0;
  std::array<std::ptrdiff_t, kDirections> neighbours_{};
  std::vector<std::int32_t> to_goal_;
  std::vector<std::uint8_t> costs_;                 // 0 in the frame
  std::vector<std::vector<std::int32_t>> waiting_;  // places by their cost, modulo the number of buckets
};

}  // namespace anesi

// The knowledge of Warcraft path planning: the cheapest path over a map from its top left cell to its bottom right one.
//
// A world is the terrain of each cell (terrain.h says what it costs), row by row. The output is the path as directions
// (models/grid_walk.h); a shorter one ends with kNone. Dijkstra's algorithm in whole tenths, so ties are exact.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/grid_walk.h"

namespace anesi {

// What is given are the path's start and goal, int64 [batch, 2]; where nothing is given, the map's own corners. What is
// known of it besides: the grid that paths are walks over, a pruner under which every walk is a path, the direction
// from every cell as a trace, and a score: by how many tenths a path is dearer than need be (infinite where it is
// none), and how many cells are on one path alone.
class PathPlanning final : public Problem {
 public:
  explicit PathPlanning(std::int64_t side);

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  torch::Tensor apply(const torch::Tensor& worlds, const torch::Tensor& given = {}) const override;

  const GridWalk& walk() const { return walk_; }
  // What a path costs in a world, in tenths, its start included; kNone where it is no path from start to goal.
  std::int64_t cost(Values world, Values path) const;

 private:
  GridWalk walk_;
  Space worlds_, outputs_;
};

}  // namespace anesi

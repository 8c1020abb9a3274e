// The knowledge of Warcraft path planning: the cheapest path over a map from its top left cell to its bottom right one,
// or between any two cells.
//
// A world is the terrain of each cell (terrain.h says what it costs), row by row, and where the ends may be any cells,
// these too. The output is the path as directions (core/grid_walk.h); a shorter one ends with kNone. Dijkstra's
// algorithm in whole tenths, so ties are exact.
#pragma once

#include <vector>

#include "anesi/core/grid_walk.h"
#include "anesi/core/problem.h"

namespace anesi {

// Which cells a path crosses, its two ends included.
std::vector<bool> crossed_cells(const GridWalk& walk, Values path);

enum class PathEnds { kCorners, kAny };

// What is known of it besides: the grid that paths are walks over, the direction from every cell as a trace, and a
// score: by how many tenths a path is dearer than need be (infinite where it is none), and how many cells are on one
// path alone. Between corners, a pruner under which every walk is a path; between any cells, that inputs tell them
// (KnownVariables).
class PathPlanning final : public Problem {
 public:
  explicit PathPlanning(std::int64_t side, PathEnds ends = PathEnds::kCorners);

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override;

  const GridWalk& walk() const { return walk_; }
  // What a path costs in a world, in tenths, its start included; kNone where it is no path from start to goal.
  std::int64_t cost(Values world, Values path) const;

 private:
  GridWalk walk_;
  Space worlds_, outputs_;
};

}  // namespace anesi

// The knowledge of Warcraft path planning: the cheapest path over a map from its top left cell to its bottom right one.
//
// A world is the terrain of each cell (terrain.h says what it costs), row by row. The output is the path as directions
// (grid_walk.h); a shorter one ends with kNone. Dijkstra's algorithm in whole tenths, so ties are exact.
#pragma once

#include "anesi/core/problem.h"

namespace anesi {

class PathPlanning final : public Problem {
 public:
  explicit PathPlanning(std::int64_t side);

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values world, MutableValues output) const override;
  torch::Tensor apply_batch(const torch::Tensor& worlds) const override;
  std::optional<GridWalk> walk() const override { return walk_; }
  // Start and goal, int64 [count, 2]: two in five are the map's own corners.
  torch::Tensor draw_queries(std::int64_t count, at::Generator generator) const override;
  torch::Tensor answer(const torch::Tensor& worlds, const torch::Tensor& queries) const override;
  // The direction from every cell to the goal, int64 [batch, cells]; kUnset at the goal.
  torch::Tensor trace(const torch::Tensor& worlds, const torch::Tensor& queries) const override;
  std::unique_ptr<Pruner> pruner() const override;
  // Cells that are on one path alone.
  torch::Tensor distance(const torch::Tensor& outputs, const torch::Tensor& wanted) const override;
  // By how many tenths a path is dearer than need be; infinite where it is none.
  torch::Tensor regret(const torch::Tensor& worlds, const torch::Tensor& outputs) const override;

  // What a path costs in a world, in tenths, its start included; kNone where it is no path from start to goal.
  std::int64_t cost(Values world, Values path) const;

 private:
  torch::Tensor corners(std::int64_t count) const;  // the problem's own query, so many times

  GridWalk walk_;
  Space worlds_, outputs_;
};

}  // namespace anesi

// What models of walks over a grid share: the steps of walks as rows, cells and directions.
#pragma once

#include "anesi/core/grid_walk.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

// The cells around each cell, int64 [cells, 8]; kNone off the grid.
torch::Tensor cells_around(std::int64_t side);

// Beliefs [batch, worlds, domain] in the cells of a square grid and, as far as these tell them, in the ends of a walk.
struct SeenGrid {
  std::int64_t side;
  torch::Tensor cells;  // [batch, cells, domain of a cell]
  torch::Tensor ends;   // int64 [batch, 2], start and goal: of the beliefs or, where they tell none, of the walk
};

// A cell has `values` values.
SeenGrid seen_grid(const torch::Tensor& beliefs, std::int64_t values, const GridWalk& walk);

// Every step of every walk: its row, where it stands, where it goes, int64 [n].
struct WalkSteps {
  torch::Tensor rows, cells, directions;
  torch::Tensor strayed;  // bool [batch]: walks that no model takes, of which there are no steps
};

// A walk that is cut short by the end of its space has the steps it has. One that leaves the grid, ends elsewhere than
// at the goal or goes on from there has strayed. values int64 [batch, variables], ends as above.
WalkSteps walk_steps(const torch::Tensor& values, const torch::Tensor& ends, std::int64_t side);

}  // namespace anesi

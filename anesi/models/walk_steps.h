// What models of walks over a grid share: the steps of walks as rows, cells and directions.
#pragma once

#include "anesi/models/grid_walk.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

// The cells around each cell, int64 [cells, 8]; kNone off the grid.
torch::Tensor cells_around(std::int64_t side);

// Of the square grid whose cells the beliefs are of.
std::int64_t side_of(const torch::Tensor& beliefs);

// Start and goal of each row, int64 [batch, 2]: the context's own, or those of the walk.
torch::Tensor walk_ends(const GridWalk& walk, const Context& context);

// Every step of every walk: its row, where it stands, where it goes, int64 [n].
struct WalkSteps {
  torch::Tensor rows, cells, directions;
  torch::Tensor strayed;  // bool [batch]: walks that no model takes, of which there are no steps
};

// A walk that is cut short by the end of its space has the steps it has. One that leaves the grid, ends elsewhere than
// at the goal or goes on from there has strayed. values int64 [batch, variables], given: the ends, as above.
WalkSteps walk_steps(const torch::Tensor& values, const torch::Tensor& given, std::int64_t side);

}  // namespace anesi

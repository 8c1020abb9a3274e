// Windows of maps: a piece of a cheapest path is a cheapest path in any window of the map that holds it.
//
// (Were there a cheaper way inside the window, the whole path would take it; and of equally cheap ones a solver that
// takes the first best direction at every cell takes the same in both.) So perception can learn from windows of one
// size whatever the size of the maps, and q, which plans between any two cells, needs to be good at that size alone.
#pragma once

#include "anesi/core/grid_walk.h"
#include "anesi/tensors/examples.h"

namespace anesi {

// For each of the rows a window of `side` x `side` cells around a random piece of its path: the cells' tiles, the piece
// as output, and its two ends, in cells of the window, as what is known. Maps must be at least that large.
Batch draw_windows(const Examples& maps, const torch::Tensor& rows, const GridWalk& walk, std::int64_t side,
                   std::int64_t steps, at::Generator generator);

// Whole maps, with the ends of their paths as what is known.
Batch whole_maps(const Examples& maps, const torch::Tensor& rows, const GridWalk& walk);

}  // namespace anesi

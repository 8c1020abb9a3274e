// A pruner for walks over a grid: no step off the grid, none back to a cell that was visited, and none from which the
// goal cannot be reached any more over cells that were not, in the steps that are left.
//
// So every walk that sampling or beam search returns is a real path from start to goal. It does not ask whether some
// world has that path for its output, so it says nothing about worlds. A question costs a search through the grid, a
// few microseconds at 12x12.
#pragma once

#include <memory>

#include "anesi/core/grid_walk.h"
#include "anesi/core/pruner.h"

namespace anesi {

// For walks whose steps are chosen from the first to the last.
std::unique_ptr<Pruner> make_walk_pruner(const GridWalk& walk);

}  // namespace anesi

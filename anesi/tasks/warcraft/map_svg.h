// A map with what was read of it and the paths over it, as a picture.
#pragma once

#include <string>
#include <vector>

#include "anesi/core/grid_walk.h"
#include "anesi/tasks/task.h"

namespace anesi {

// The map's tiles, a letter for the terrain that each was read as, the predicted path as a line and the true one, where
// it is known, as a dashed line beneath it. Cells are tinted by how much they matter.
std::string map_svg(const GridWalk& walk, const PredictionPicture& picture);

}  // namespace anesi

// A map with what was read of it and the paths over it, as a picture.
#pragma once

#include <string>
#include <vector>

#include "anesi/core/grid_walk.h"
#include "anesi/tasks/presentation.h"

namespace anesi {

// The map's tiles, a letter for the terrain that each was read as, the predicted path as a line and the true one, where
// it is known, as a dashed line beneath it. Cells are tinted by how much they matter, where that is known.
std::string map_svg(const GridWalk& walk, const Picture& picture);

}  // namespace anesi

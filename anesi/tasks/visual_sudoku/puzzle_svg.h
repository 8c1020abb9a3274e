// A picture of a puzzle: its images, how each was read, what conflicts, and what the most probable valid grid has
// there.
#pragma once

#include <string>

#include "anesi/builtin/sudoku.h"

namespace anesi {

// `cells` is float [cells, height, width] from -1 to 1. `explained` may be empty. Cells that break a rule are red, and
// cells that the explanation reads otherwise have its value in green beside what was read.
std::string puzzle_svg(const Sudoku& sudoku, const torch::Tensor& cells, Values read, Values explained);

}  // namespace anesi

// An order of things in which those that belong together stand together.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/rows.h"

namespace anesi {

// The vertices of a graph along the second eigenvector of its Laplacian (the Fiedler vector). Weights are symmetric,
// [vertices, vertices], and not negative. Cubic in the number of vertices; for a hundred at most.
std::vector<std::int64_t> spectral_order(const Matrix<double>& weights);

}  // namespace anesi

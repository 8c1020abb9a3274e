// Does c give the same output whenever it is asked about the same world?
#pragma once

#include "anesi/core/problem.h"

namespace anesi {

// Throws Error, which names a world and both outputs, if c is not deterministic: asks it about at most 1,000 random
// worlds, twice and in another order; about fewer if c is slow, but at least 16.
void require_deterministic(const Problem& problem);

// Throws that error if outputs of the same worlds differ.
void require_same_outputs(PointRows worlds, PointRows outputs, PointRows again);

}  // namespace anesi

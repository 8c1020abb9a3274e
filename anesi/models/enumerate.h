// Exact inference by going through every world: for any function of a small space.
//
// Costs the number of worlds, in time and memory, for each belief. Everything else is checked against it.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

inline constexpr double kMostWorldsEnumerated = 1 << 21;

// Calls c once for every world, and a few times more. Throws Error if there are more than kMostWorldsEnumerated, or if
// c gives different outputs for the same world.
std::unique_ptr<ExactInference> make_enumeration(const Problem& problem);

}  // namespace anesi

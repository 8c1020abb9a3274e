// Exact inference by going through every world that gives an output: for any function of a small space.
//
// Costs about a multiplication for each of those worlds and each example. Everything else is checked against it.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/exact/backend.h"

namespace anesi {

inline constexpr double kMostWorldsEnumerated = 1 << 21;

// Calls c once for every world, and a few times more. Throws Error if there are more than kMostWorldsEnumerated, or if
// c gives different outputs for the same world.
std::unique_ptr<Backend> make_enumeration_backend(const Problem& problem);

}  // namespace anesi

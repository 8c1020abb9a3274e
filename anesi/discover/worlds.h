// Worlds to ask about.
#pragma once

#include <cstdint>
#include <functional>

#include "anesi/core/random.h"
#include "anesi/core/rows.h"
#include "anesi/exact/backend.h"

namespace anesi {

// Draws worlds, each independent of the others.
using DrawWorlds = std::function<Points(std::int64_t count, Random& random)>;

// Worlds of beliefs that are themselves drawn from Dirichlet priors of mixed concentration, a belief for each world:
// half of them with a belief for each variable, which makes a uniform world, half with one belief that all variables of
// a domain share, which makes values repeat. Uniform worlds alone miss what is rare: that all of twenty digits are
// small, or equal.
Points mixed_worlds(const Space& space, std::int64_t count, Random& random);
DrawWorlds mixed_worlds_of(const Space& space);

// Worlds of beliefs that are chosen at random from these: what perception emits. Beliefs are logarithms and need not be
// normalised; they are copied. Throws Error if there are none, or if no value of some variable is possible.
DrawWorlds worlds_of_beliefs(LogBeliefRows logs, const Space& space);

// The same worlds but for one variable, which takes another of its values in each; if it has only one, it stays.
Points with_another_value(PointRows worlds, std::int64_t variable, const Space& space, Random& random);

}  // namespace anesi

// Variables that an input tells outright.
//
// What c takes besides what perception looks at is part of the world: the ends of a path are variables like the cells
// that it crosses, only that their beliefs are certain. So whatever serves worlds serves such a c, too: every q, every
// pruner, exact inference, discovery.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/random.h"

namespace anesi {

// A fact. Buys a q that learns from beliefs as they will be, and scores that leave out what was never in doubt.
struct KnownVariables {
  std::vector<std::int64_t> variables;
  // Writes values for them at random, one a variable.
  std::function<void(Random& random, MutableValues values)> draw;

  // All other variables, in their order, and the space of them.
  std::vector<std::int64_t> others(const Space& worlds) const;
  Space space_of_others(const Space& worlds) const;
};

// The variables of a problem that perception has to tell: all of them, unless some are known.
Space perceived_space(const Problem& problem);

}  // namespace anesi

// A pruner from local constraints: each looks at a few variables and says which of their values go together.
//
// A value is allowed where every constraint on its variable can still be met by some values of that constraint's other
// variables. Quick, and it never forbids what can be completed; but constraints are looked at one by one, so it may
// allow what cannot (the paper's third kind). A model learns to avoid the dead ends that are left; one that runs into
// them all the same gets an error that names the prefix.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "anesi/core/pruner.h"

namespace anesi {

struct LocalConstraint {
  std::vector<std::int64_t> worlds, outputs;  // the variables it looks at, few enough to try all their values
  // Whether values of these variables, in that order, may stand together in a world and its output.
  std::function<bool(Values worlds, Values outputs)> holds;
};

// Throws Error where a constraint names a variable that does not exist or has more than a million combinations.
std::unique_ptr<Pruner> make_local_pruner(const Space& worlds, const Space& outputs,
                                          std::vector<LocalConstraint> constraints);

}  // namespace anesi

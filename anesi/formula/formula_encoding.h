// Which literals of a formula stand for which worlds and outputs: exactly_one_groups and encoded (formula.h), and what
// they are made of.
#pragma once

#include <vector>

#include "anesi/formula/formula.h"

namespace anesi {

// Whether each variable is shown, entry 0 unused.
std::vector<bool> shown_variables(const Dimacs& formula);

// Of the formula's clauses those that worlds may violate: not what groups say, which is true of every world.
std::vector<std::vector<int>> clauses_that_tell(const Dimacs& formula, const std::vector<std::vector<int>>& groups);

// Of those that are shown, first what inputs tell. Throws UsageError where that is not shown.
std::vector<int> world_variables(const std::vector<bool>& shown, const std::vector<int>& told);

}  // namespace anesi

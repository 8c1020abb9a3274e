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

// Those groups that are one world variable as they stand: all of their members are shown, and inputs tell none of them.
std::vector<std::vector<int>> whole_groups(const Dimacs& formula, const std::vector<int>& told);

// Of those that are shown, first what inputs tell. Throws UsageError if one of those is not shown or is named twice.
std::vector<int> world_variables(const std::vector<bool>& shown, const std::vector<int>& told);

}  // namespace anesi

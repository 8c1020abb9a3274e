// An order in which to decide a formula's variables, so that what is left falls apart.
#pragma once

#include <vector>

namespace anesi {

// Of each variable, its place in an order (entry 0 unused). Deciding variables from the last to the first, what is left
// depends on few of those that were decided: the order in which eliminating them adds the fewest edges between the
// variables of one clause ("min-fill"; for formulas of many variables the fewest neighbours, "min-degree"). Variables
// of `late` come first, so that they are decided last.
std::vector<double> elimination_order(int variables, const std::vector<std::vector<int>>& clauses,
                                      const std::vector<bool>& late);

}  // namespace anesi

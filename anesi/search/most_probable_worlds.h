// The most probable world that gives an output, for any problem: argmax of p(w|P) over the worlds w with c(w) = y.
//
// Perception is nearly right, so the world looked for is nearly the most likely one. The search counts what a world
// costs in nats against that one and looks for worlds that cost at most 1, then 2, 4, … It decides the variable with
// the fewest values it can still pay for, tries cheap values first, and turns back if the cheapest values that are
// left to all variables cost too much together. NP-hard in general; a 9x9 sudoku read with 98 % of its cells right
// takes about a tenth of a millisecond at the median.
//
// What is known of the problem is used, the best of
//   Automaton      dynamic programming instead of search, exact whatever the beliefs
//   PropagationOf  conclusions from each decision
//   Pruner         a question for each variable after each decision
//   nothing        c is asked about each complete world that can be paid for: for a few variables, or confident beliefs
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/exact/backend.h"

namespace anesi {

struct SearchLimits {
  double nats = 40;            // a world that costs more is not looked for
  std::int64_t nodes = 20000;  // decisions after which a search gives up, for each row
};

// What was found for a row.
struct ConsistentWorld {
  std::vector<std::int64_t> world = {};  // empty if none was found
  // max log p(w'|P) over all w' less log p(w|P); infinity if none was found.
  double gap = std::numeric_limits<double>::infinity();
  std::int64_t nodes = 0;  // decisions made; 0 if the most likely world gives the output
  // No world is better by more than 1e-9 nats or, if none was found, there is none within the limit of nats; false if
  // the limit of nodes ended the search.
  bool proven = true;
};

// A world for each row of beliefs and outputs; an output variable may be kUnset, which leaves it open. A value of
// probability zero is never taken. If nodes run out, the best world found so far is returned. An automaton needs no
// limits: nodes are 0 and everything is proven, but worlds beyond the limit of nats are left out there too, so that a
// gap means the same for every problem. Rows run on several threads; results do not depend on how many.
//
// Throws Error if beliefs or outputs have the wrong shape or lie outside their spaces, if a limit is negative, and if a
// search is needed but a variable has more than 64 values.
std::vector<ConsistentWorld> most_probable_worlds(const Problem& problem, const Query& query,
                                                  const SearchLimits& limits = {});

}  // namespace anesi

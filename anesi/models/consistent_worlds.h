// The most probable world that gives an output, for any problem: argmax of p(w|P) over the worlds w with c(w) = y.
//
// Perception is nearly right, so the world looked for is nearly the most likely one. The search counts what a world
// costs in nats against that one and looks for worlds that cost at most 1, then 2, 4, … It decides the variable with
// the fewest values it can still pay for, tries cheap values first, and turns back where the cheapest values that are
// left to all variables cost too much together. NP-hard in general; a 9x9 sudoku read with 98 % of its cells right
// takes about a tenth of a millisecond at the median.
//
// What is known of the problem is used, the best of
//   Automaton      dynamic programming instead of search, exact whatever the beliefs
//   PropagationOf  conclusions from each decision
//   Pruner         a question for each variable after each decision
//   nothing        c is asked about each complete world that can be paid for: for a few variables, or confident beliefs
#pragma once

#include <torch/torch.h>

#include "anesi/core/problem.h"

namespace anesi {

struct SearchLimits {
  double nats = 40;            // a world that costs more is not looked for
  std::int64_t nodes = 20000;  // decisions after which a search gives up, for each row
};

struct ConsistentWorlds {
  torch::Tensor worlds;  // int64 [batch, variables]; kUnset where none was found
  torch::Tensor gap;     // double [batch], max log p(w'|P) over all w' less log p(w|P); infinity where none was found
  torch::Tensor nodes;   // int64 [batch], decisions made; 0 where the most likely world gives the output
  torch::Tensor proven;  // bool [batch]: no world is better by more than 1e-9 nats, or, where none was found, there is
                         // none within the limit of nats; false where the limit of nodes ended the search
};

// Beliefs are [batch, worlds, domain] and outputs int64 [batch, outputs], where kUnset leaves a variable open; given is
// what c is told besides, and where it is told something, no other fact helps. A value
// of probability zero is never taken. Where nodes run out the best world found so far is returned. An automaton needs
// no limits: nodes are 0 and everything is proven, but worlds beyond the limit of nats are left out there too, so that
// a gap means the same for every problem. Rows run on several threads; results do not depend on how many.
//
// Throws Error where beliefs or outputs have the wrong shape or lie outside their spaces, where a limit is negative,
// and where a search is needed but a variable has more than 64 values.
ConsistentWorlds most_probable_worlds(const Problem& problem, const torch::Tensor& beliefs,
                                      const torch::Tensor& outputs, const SearchLimits& limits = {});

}  // namespace anesi

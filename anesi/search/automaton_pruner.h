// The exact pruner of a function with a finite memory: which states can be reached from both ends.
//
// A value is allowed where it leads from a state that the start can reach to one that can reach the end, given all that
// is chosen, in whatever order it was. For addition this is appendix H of the paper, and more: it serves partial
// assignments of any shape. A question costs one pass over the steps, a few operations on machine words each, so
// nothing grows with the size of the numbers.
#pragma once

#include <memory>

#include "anesi/core/pruner.h"
#include "anesi/exact/automaton.h"

namespace anesi {

// Throws Error where the automaton has more than 64 states, or a kind of step too many combinations to tabulate.
std::unique_ptr<Pruner> make_automaton_pruner(std::shared_ptr<const Automaton> automaton);

}  // namespace anesi

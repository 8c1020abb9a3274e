// In which order to read: what decides how much must be remembered.
#pragma once

#include <string>
#include <vector>

#include "anesi/core/reading_order.h"
#include "anesi/discover/layered_machine.h"
#include "anesi/discover/oracle.h"

namespace anesi {

// How often another value of each world variable changes each output, [world variables, output variables]; of worlds
// that are drawn from mixed beliefs.
Matrix<double> influence(Oracle& oracle, Random& random);

// A way to choose the variable that is read next.
struct OrderChoice {
  std::string name;
  LayeredMachine::Choose choose;
};

// Orders that are worth trying, the most promising first:
//   support      the output that needs the fewest variables first, of those its most influential one
//   given, reversed
//   adaptive     as support, but from the states that are still undecided, layer by layer: what matters to comparing
//                two numbers are the first digits and, where those are equal, the next ones
//   interaction  variables that act together stand together
// The oracle outlives them. Each draws from a generator of its own, which the seed decides.
std::vector<OrderChoice> promising_orders(Oracle& oracle, const Matrix<double>& influence, std::uint64_t seed);

// The order of `support`, with each output emitted once all variables that matter to it are read: what a neural q can
// go along where no memory was found. Steps of one shape are of one kind.
ReadingOrder reading_by_influence(const Space& worlds, const Space& outputs, const Matrix<double>& influence);

// Reads in that order.
LayeredMachine::Choose fixed_order(std::vector<std::int64_t> order);

}  // namespace anesi

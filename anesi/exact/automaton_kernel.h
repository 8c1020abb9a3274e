// log p(y|P) in an automaton, with its gradient: filtering forward over the states, and messages back.
//
// Moves are certain, so a step over r states that reads C combinations is r * C additions, where a product with a table
// of zeros and ones would be C * r^2. Eight examples at a time lie side by side (lanes.h). In 64 bits, with states
// normalised at each step; rows in which something may have underflowed that matters are left to the caller, who does
// them again in logarithms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/exact/automaton_row.h"
#include "anesi/exact/backend.h"
#include "anesi/exact/lanes.h"

namespace anesi {

class AutomatonKernel {
 public:
  explicit AutomatonKernel(const AutomatonSteps& machine);

  // A move between the state of its group and another one, by a combination of the values read.
  struct Edge {
    std::int32_t state, combination;
  };
  struct Group {
    std::int32_t state, end;  // in the list of edges
  };
  // Edges grouped so that each state is written once. Groups, and the edges in each, are in order of their states.
  struct Edges {
    std::vector<Group> groups;
    std::vector<Edge> edges;
  };
  struct Kind {
    std::vector<Edges> into, out_of;  // the groups' states, of each value emitted
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  // Where the values of each world variable stand if those of all stand in one row, the last entry past the end.
  const std::vector<std::size_t>& places() const { return places_; }

  // Room to work in, for one thread.
  struct Room {
    Room(const AutomatonKernel& kernel, const AutomatonSteps& machine);

    LaneArray beliefs, gradient;      // of each value of each variable
    LaneArray states, totals;         // before each step and at the end; what those after each step sum up to
    LaneArray weights;                // how likely what the first two variables read is, the first three, ...
    std::vector<std::size_t> levels;  // where those stand
    LaneArray weight_gradient;        // of each combination
    LaneArray admitted;               // of each value that may be emitted, 1 in the lanes that ask for it
    std::vector<std::int32_t> asked;  // the values that some lane asks for
    LaneArray first, second;          // derivatives by states
  };

  // log_probs and gradient as in Backend::log_prob, for kLanes rows or fewer. `lost` is set for the rows in which
  // something may have underflowed.
  void run(const AutomatonSteps& machine, const Query& rows, std::span<double> log_probs, GradientRows gradient,
           std::span<bool> lost, Room& room) const;

 private:
  std::vector<Kind> kinds_;
  std::vector<std::size_t> places_;
};

}  // namespace anesi

// Inference as a flow network (appendix D of the paper): from beliefs to outputs, from there to worlds, one choice
// after another. What flows out at a world is p(w|P), so that what flows through y is p(y|P): one unit in all.
//
// Three views of the same problem, which differ in what a state is:
//
// | view        | a state is                                      | A or B | its ways                            |
// |-------------|-------------------------------------------------|--------|-------------------------------------|
// | tree        | what was chosen, in one order (D.1)             | 10     | one to each state                   |
// | assignments | what was chosen, in any order (D.2)             | 13     | as many as there are orders         |
// | lattice     | the variables that are not 0, in any order (D.2) | 6      | ends wherever the rest may stay 0   |
//
// States that nothing completes are left out, as if an exact pruner had been asked. Costs time and memory for every
// state: for small problems.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

enum class FlowView { kTree, kLattice, kAssignments };
constexpr std::array<std::string_view, 3> names_of(FlowView) { return {"tree", "lattice", "assignments"}; }

struct FlowState {
  std::vector<std::int64_t> output, world;         // kUnset where nothing is chosen
  std::int64_t depth = 0;                          // how many choices lead to it
  std::vector<std::int64_t> arrivals, departures;  // places in FlowNetwork::actions()
};

struct FlowAction {
  enum class Sets { kOutput, kWorld, kNothing };  // the last is to stop, which leads to the sink
  std::int64_t from, to;                          // places in FlowNetwork::states()
  Sets sets;
  std::int64_t variable, value;  // kNone where it stops
};

// Where a world comes out.
struct FlowEnd {
  std::vector<std::int64_t> world;
  std::int64_t state, stop;  // places of the state, and of the action that leads from there to the sink
};

inline constexpr std::int64_t kMostFlowStates = 200'000;

class FlowNetwork {
 public:
  using Function = std::function<void(Values world, MutableValues output)>;

  // Calls the function once for every world; the output is kNone throughout before. Throws Error where there would be
  // more than kMostFlowStates.
  FlowNetwork(Space worlds, Space outputs, const Function& function, FlowView view);

  FlowView view() const { return view_; }
  const Space& worlds() const { return worlds_; }
  const Space& outputs() const { return outputs_; }

  // The source, at which nothing is chosen, comes first, the sink last, and no state before one that leads to it.
  const std::vector<FlowState>& states() const { return states_; }
  const std::vector<FlowAction>& actions() const { return actions_; }
  // One for each world, the last variable running fastest.
  const std::vector<FlowEnd>& ends() const { return ends_; }

  std::int64_t source() const { return 0; }
  std::int64_t sink() const { return static_cast<std::int64_t>(states_.size()) - 1; }
  // Without the sink, which every view has.
  std::int64_t nodes() const { return sink(); }
  std::int64_t deepest() const { return states_.back().depth; }  // the sink's depth

 private:
  FlowView view_;
  Space worlds_, outputs_;
  std::vector<FlowState> states_;
  std::vector<FlowAction> actions_;
  std::vector<FlowEnd> ends_;
};

}  // namespace anesi

// What the states of a flow network are called.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "anesi/flow/flow_network.h"

namespace anesi {

struct FlowWords {
  using OfValue = std::function<std::string(std::int64_t variable, std::int64_t value)>;

  std::string title = {};
  OfValue world = {}, output = {};  // by default "w0=1" and "y0=1", counted from 0
  // Which states are of outputs that are asked for, so that they stand out; none by default.
  std::function<bool(const FlowState& state)> stands_out = {};

  // Of what a state has chosen, each.
  std::vector<std::string> of_worlds(const FlowState& state) const;
  std::vector<std::string> of_outputs(const FlowState& state) const;
};

// "P", "y=1", "y=1, A, ¬B"; of a lattice "y=1, {A}"; of the sink "end".
std::string describe_state(const FlowNetwork& network, std::int64_t state, const FlowWords& words);

}  // namespace anesi

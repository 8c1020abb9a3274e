// What flows through a network, exactly: by summation, in 64 bits.
//
// In a tree the rewards p(w|P) at its ends decide every flow. In the other views a state has several ways to it, and
// many flows carry the same rewards; a backward policy P_B, or a forward policy P_F, says which is meant.
#pragma once

#include <vector>

#include "anesi/flow/flow_network.h"

namespace anesi {

using WorldBeliefs = std::vector<std::vector<double>>;  // [variable][value]

// p(w|P) of every end. Throws UsageError where beliefs are not distributions over the network's variables.
std::vector<double> flow_rewards(const FlowNetwork& network, const WorldBeliefs& beliefs);

// In everything below, numbers stand at the places of FlowNetwork::states() and FlowNetwork::actions().
struct Flow {
  std::vector<double> states, actions;
};

// The P_B that takes all ways into a state alike. Its values at the sink's arrivals are not looked at.
std::vector<double> uniform_backward(const FlowNetwork& network);

// From the ends to the source: F(s) = sum of F(s') P_B(s|s') over what follows, and the reward where s is an end.
Flow flow_of_rewards(const FlowNetwork& network, const std::vector<double>& rewards,
                     const std::vector<double>& backward);
// The same with uniform_backward().
Flow exact_flow(const FlowNetwork& network, const WorldBeliefs& beliefs);

// From the source, into which one unit flows: F(s') = sum of F(s) P_F(s'|s).
Flow flow_of_policy(const FlowNetwork& network, const std::vector<double>& forward);

// The policies that a flow is of, for each action: its share of what flows out of its state (P_F), or into the next
// (P_B). 0 where nothing flows.
std::vector<double> forward_policy(const FlowNetwork& network, const Flow& flow);
std::vector<double> backward_policy(const FlowNetwork& network, const Flow& flow);

// By how much what flows into a state and out of it differ at most; the source's and the sink's one unit counts too.
double largest_imbalance(const FlowNetwork& network, const Flow& flow);

}  // namespace anesi

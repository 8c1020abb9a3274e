#include "anesi/flow/exact_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

constexpr double kSumTolerance = 1e-6;

double sum_at(const std::vector<double>& numbers, const std::vector<std::int64_t>& places) {
  double sum = 0;
  for (const auto place : places) sum += numbers[as_size(place)];
  return sum;
}

}  // namespace

std::vector<double> flow_rewards(const FlowNetwork& network, const WorldBeliefs& beliefs) {
  const auto& worlds = network.worlds();
  if (beliefs.size() != as_size(worlds.variables())) {
    throw UsageError(fmt::format("beliefs: of {} variables; the problem has {}", beliefs.size(), worlds.variables()));
  }
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto& belief = beliefs[as_size(variable)];
    double sum = 0;
    for (const auto share : belief) sum += share >= 0 ? share : NAN;
    if (belief.size() != as_size(worlds.domain(variable)) || !(std::abs(sum - 1) <= kSumTolerance)) {
      throw UsageError(
          fmt::format("beliefs: variable {} wants {} probabilities that sum to 1", variable, worlds.domain(variable)));
    }
  }
  std::vector<double> rewards;
  for (const auto& end : network.ends()) {
    double reward = 1;
    for (std::size_t variable = 0; variable < end.world.size(); ++variable) {
      reward *= beliefs[variable][as_size(end.world[variable])];
    }
    rewards.push_back(reward);
  }
  return rewards;
}

std::vector<double> uniform_backward(const FlowNetwork& network) {
  std::vector<double> backward;
  for (const auto& action : network.actions()) {
    backward.push_back(1 / static_cast<double>(network.states()[as_size(action.to)].arrivals.size()));
  }
  return backward;
}

Flow flow_of_rewards(const FlowNetwork& network, const std::vector<double>& rewards,
                     const std::vector<double>& backward) {
  Flow flow{std::vector<double>(network.states().size(), 0), std::vector<double>(network.actions().size(), 0)};
  for (std::size_t end = 0; end < rewards.size(); ++end) {
    flow.actions[as_size(network.ends()[end].stop)] = rewards[end];
    flow.states.back() += rewards[end];
  }
  for (auto state = network.states().size() - 1; state-- > 0;) {
    flow.states[state] = sum_at(flow.actions, network.states()[state].departures);
    for (const auto arrival : network.states()[state].arrivals) {
      flow.actions[as_size(arrival)] = flow.states[state] * backward[as_size(arrival)];
    }
  }
  return flow;
}

Flow exact_flow(const FlowNetwork& network, const WorldBeliefs& beliefs) {
  return flow_of_rewards(network, flow_rewards(network, beliefs), uniform_backward(network));
}

Flow flow_of_policy(const FlowNetwork& network, const std::vector<double>& forward) {
  Flow flow{std::vector<double>(network.states().size(), 0), std::vector<double>(network.actions().size(), 0)};
  for (std::size_t state = 0; state < network.states().size(); ++state) {
    flow.states[state] = state == 0 ? 1 : sum_at(flow.actions, network.states()[state].arrivals);
    for (const auto departure : network.states()[state].departures) {
      flow.actions[as_size(departure)] = flow.states[state] * forward[as_size(departure)];
    }
  }
  return flow;
}

namespace {

// Each action's share of the flow through the state that `end` of it says.
std::vector<double> shares(const FlowNetwork& network, const Flow& flow, std::int64_t FlowAction::*end) {
  std::vector<double> shares;
  for (std::size_t action = 0; action < network.actions().size(); ++action) {
    const auto all = flow.states[as_size(network.actions()[action].*end)];
    shares.push_back(all > 0 ? flow.actions[action] / all : 0);
  }
  return shares;
}

}  // namespace

std::vector<double> forward_policy(const FlowNetwork& network, const Flow& flow) {
  return shares(network, flow, &FlowAction::from);
}

std::vector<double> backward_policy(const FlowNetwork& network, const Flow& flow) {
  return shares(network, flow, &FlowAction::to);
}

double largest_imbalance(const FlowNetwork& network, const Flow& flow) {
  double largest = 0;
  for (std::size_t state = 0; state < network.states().size(); ++state) {
    const auto& [output, world, depth, arrivals, departures] = network.states()[state];
    const auto in = arrivals.empty() ? 1 : sum_at(flow.actions, arrivals);
    const auto out = departures.empty() ? 1 : sum_at(flow.actions, departures);
    largest = std::max({largest, std::abs(in - out), std::abs(in - flow.states[state])});
  }
  return largest;
}

}  // namespace anesi

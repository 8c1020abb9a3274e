#include "anesi/flow/flow_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

using Chosen = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;  // output, world

// Puts a network together from its ends: whatever leads to one is a state.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(FlowView view) : view_(view) {}

  // The place of a state; it and all that lead to it are made where they are new.
  std::int64_t place_of(const Chosen& chosen) {
    const auto [found, is_new] = places_.try_emplace(chosen, static_cast<std::int64_t>(states.size()));
    const auto place = found->second;
    if (!is_new) return place;
    if (place >= kMostFlowStates) {
      throw Error(fmt::format("flow network: more than {} states; it is for smaller problems", kMostFlowStates));
    }
    const auto is_set = [](std::int64_t value) { return value != kUnset; };
    const auto depth = std::ranges::count_if(chosen.first, is_set) + std::ranges::count_if(chosen.second, is_set);
    states.push_back({chosen.first, chosen.second, depth, {}, {}});
    const bool at_world = std::ranges::any_of(chosen.second, is_set);
    const bool in_order = view_ == FlowView::kTree || (view_ == FlowView::kLattice && !at_world);
    const auto& last_part = at_world ? chosen.second : chosen.first;
    for (auto variable = last_part.size(); variable-- > 0;) {
      if (last_part[variable] == kUnset) continue;
      auto before = chosen;
      (at_world ? before.second : before.first)[variable] = kUnset;
      const auto from = place_of(before);
      actions.push_back({from, place, at_world ? FlowAction::Sets::kWorld : FlowAction::Sets::kOutput,
                         static_cast<std::int64_t>(variable), last_part[variable]});
      if (in_order) break;
    }
    return place;
  }

  std::vector<FlowState> states;
  std::vector<FlowAction> actions;

 private:
  FlowView view_;
  std::map<Chosen, std::int64_t> places_;
};

// What is chosen last, of the ways to this world.
std::vector<std::int64_t> chosen_at_the_end(Values world, FlowView view) {
  std::vector<std::int64_t> chosen(world.begin(), world.end());
  if (view == FlowView::kLattice) std::ranges::replace(chosen, 0, kUnset);
  return chosen;
}

}  // namespace

FlowNetwork::FlowNetwork(Space worlds, Space outputs, const Function& function, FlowView view)
    : view_(view), worlds_(std::move(worlds)), outputs_(std::move(outputs)) {
  if (worlds_.points() > static_cast<double>(kMostFlowStates)) {
    throw Error(
        fmt::format("flow network: {:g} worlds; it is for problems of at most {}", worlds_.points(), kMostFlowStates));
  }
  NetworkBuilder builder(view);
  worlds_.for_each_point([&](Values world) {
    std::vector<std::int64_t> output(as_size(outputs_.variables()), kNone);
    function(world, output);
    ends_.push_back({{world.begin(), world.end()}, builder.place_of({output, chosen_at_the_end(world, view)}), kNone});
  });
  // By depth, so that flows can be computed in the order in which states stand.
  std::vector<std::int64_t> order(builder.states.size()), place(builder.states.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t state) { return builder.states[as_size(state)].depth; });
  for (std::size_t at = 0; at < order.size(); ++at) {
    place[as_size(order[at])] = static_cast<std::int64_t>(at);
    states_.push_back(std::move(builder.states[as_size(order[at])]));
  }
  states_.push_back({{}, {}, states_.back().depth + 1, {}, {}});
  for (auto action : builder.actions) {
    action.from = place[as_size(action.from)];
    action.to = place[as_size(action.to)];
    actions_.push_back(action);
  }
  std::ranges::stable_sort(actions_, {}, [](const FlowAction& action) {
    return std::tuple(action.from, action.sets, action.variable, action.value);
  });
  for (auto& end : ends_) {
    end.state = place[as_size(end.state)];
    end.stop = static_cast<std::int64_t>(actions_.size());
    actions_.push_back({end.state, sink(), FlowAction::Sets::kNothing, kNone, kNone});
  }
  for (std::size_t at = 0; at < actions_.size(); ++at) {
    states_[as_size(actions_[at].from)].departures.push_back(static_cast<std::int64_t>(at));
    states_[as_size(actions_[at].to)].arrivals.push_back(static_cast<std::int64_t>(at));
  }
}

}  // namespace anesi

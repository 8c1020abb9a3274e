#include "anesi/flow/flow_policy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "anesi/core/index.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// With one more column, for what is past the last action.
torch::Tensor padded(const torch::Tensor& policy, double value) {
  return torch::constant_pad_nd(policy, {0, 1}, value);
}

torch::Tensor for_rows(const torch::Tensor& policy, std::int64_t rows) {
  return policy.size(0) == rows ? policy : policy.expand({rows, -1});
}

// One-hot of every variable's value, unset first: what a network sees of states.
torch::Tensor features_of(const FlowNetwork& network) {
  const auto &outputs = network.outputs(), &worlds = network.worlds();
  const auto wide = std::max(outputs.largest_domain(), worlds.largest_domain()) + 2;  // unset, kNone, values
  const auto variables = outputs.variables() + worlds.variables();
  auto features = torch::zeros({network.sink(), variables * wide});
  auto* const numbers = features.mutable_data_ptr<float>();
  for (std::int64_t state = 0; state < network.sink(); ++state) {
    const auto& at = network.states()[as_size(state)];
    auto* row = numbers + state * variables * wide;
    for (const auto* part : {&at.output, &at.world}) {
      for (const auto value : *part) {
        row[value - kUnset] = 1;
        row += wide;
      }
    }
  }
  return features;
}

}  // namespace

FlowPolicy::FlowPolicy(std::shared_ptr<const FlowNetwork> network, const FlowPolicyOptions& options)
    : network_(std::move(network)),
      departures_(groups_of(&FlowState::departures)),
      arrivals_(groups_of(&FlowState::arrivals)) {
  const auto& actions = network_->actions();
  std::vector<std::int64_t> from, to, end_of(actions.size() + 1, 0), stops, stopped_at, worlds;
  std::vector<double> even;
  for (const auto& action : actions) {
    from.push_back(action.from);
    to.push_back(action.to);
    const auto ways = network_->states()[as_size(action.to)].arrivals.size();
    even.push_back(action.to == network_->sink() ? 0 : -std::log(static_cast<double>(ways)));
  }
  from.push_back(network_->source());
  to.push_back(network_->sink());
  for (std::size_t end = 0; end < network_->ends().size(); ++end) {
    const auto& [world, state, stop] = network_->ends()[end];
    end_of[as_size(stop)] = static_cast<std::int64_t>(end);
    stops.push_back(stop);
    stopped_at.push_back(state);
    worlds.insert(worlds.end(), world.begin(), world.end());
  }
  from_ = torch::tensor(from, torch::kInt64);
  to_ = torch::tensor(to, torch::kInt64);
  end_of_ = torch::tensor(end_of, torch::kInt64);
  stops_ = torch::tensor(stops, torch::kInt64);
  stopped_at_ = torch::tensor(stopped_at, torch::kInt64);
  worlds_ = torch::tensor(worlds, torch::kInt64).view({-1, network_->worlds().variables()});
  even_backward_ = torch::tensor(even, torch::kFloat64).unsqueeze(0);
  for (std::int64_t state = 0; state <= network_->sink(); ++state) {
    if (static_cast<std::int64_t>(first_of_depth_.size()) == network_->states()[as_size(state)].depth)
      first_of_depth_.push_back(state);
  }
  if (options.width > 0) {
    make_network(options.width);
    return;
  }
  const auto zeros = torch::zeros({1, static_cast<std::int64_t>(actions.size())}, torch::kFloat64);
  forward_scores_ = register_parameter("forward", zeros.clone());
  backward_scores_ = register_parameter("backward", zeros.clone());
}

void FlowPolicy::make_network(std::int64_t width) {
  // What an action sets is a slot of the network's answer, the same in every state.
  std::map<std::tuple<FlowAction::Sets, std::int64_t, std::int64_t>, std::int64_t> slot_of;
  for (const auto& action : network_->actions()) {
    slot_of.try_emplace({action.sets, action.variable, action.value}, static_cast<std::int64_t>(slot_of.size()));
  }
  const auto slots = static_cast<std::int64_t>(slot_of.size());
  std::vector<std::int64_t> places;  // actions ask the state they leave; going back, the state they led to
  for (const auto& action : network_->actions()) {
    places.push_back(action.from * 2 * slots + slot_of.at({action.sets, action.variable, action.value}));
  }
  for (const auto& action : network_->actions()) {
    const auto state = std::min(action.to, network_->sink() - 1);  // nothing is asked at the sink
    places.push_back(state * 2 * slots + slots + slot_of.at({action.sets, action.variable, action.value}));
  }
  slots_ = torch::tensor(places, torch::kInt64).view({2, -1});
  features_ = features_of(*network_);
  const auto& worlds = network_->worlds();
  of_state_ = register_module("of_state", torch::nn::Linear(features_.size(1), width));
  of_beliefs_ = register_module("of_beliefs", torch::nn::Linear(worlds.variables() * worlds.largest_domain(), width));
  hidden_ = register_module("hidden", torch::nn::Linear(width, width));
  head_ = register_module("head", torch::nn::Linear(width, 2 * slots));
}

FlowPolicy::Groups FlowPolicy::groups_of(std::vector<std::int64_t> FlowState::*members) const {
  const auto actions = static_cast<std::int64_t>(network_->actions().size());
  std::size_t most = 1;
  for (const auto& state : network_->states()) most = std::max(most, (state.*members).size());
  std::vector<std::int64_t> table(network_->states().size() * most, actions), positions(as_size(actions));
  for (std::size_t state = 0; state < network_->states().size(); ++state) {
    const auto& own = network_->states()[state].*members;
    for (std::size_t at = 0; at < own.size(); ++at) {
      table[state * most + at] = own[at];
      positions[as_size(own[at])] = static_cast<std::int64_t>(state * most + at);
    }
  }
  return {torch::tensor(table, torch::kInt64).view({-1, static_cast<std::int64_t>(most)}),
          torch::tensor(positions, torch::kInt64)};
}

torch::Tensor FlowPolicy::normalised(const torch::Tensor& scores, const Groups& groups) {
  const auto grouped = padded(scores, -INFINITY)
                           .index_select(1, groups.members.flatten())
                           .view({scores.size(0), groups.members.size(0), groups.members.size(1)});
  // A state without actions has nothing to normalise; nobody asks what comes out there.
  const auto empty = (groups.members.select(1, 0) == scores.size(1)).unsqueeze(1);
  return grouped.masked_fill(empty, 0).log_softmax(2).flatten(1).index_select(1, groups.positions);
}

torch::Tensor FlowPolicy::scores(const torch::Tensor& beliefs, bool backward) {
  if (!head_) return backward ? backward_scores_ : forward_scores_;
  const auto inputs = beliefs.to(features_.scalar_type()).flatten(1);
  const auto seen = (of_state_(features_).unsqueeze(0) + of_beliefs_(inputs).unsqueeze(1)).relu();
  const auto said = head_(hidden_(seen).relu()).flatten(1);  // [rows, states * slots]
  return said.index_select(1, slots_[backward ? 1 : 0]).to(torch::kFloat64);
}

torch::Tensor FlowPolicy::forward_policy(const torch::Tensor& beliefs) {
  return normalised(scores(beliefs, /*backward=*/false), departures_);
}

torch::Tensor FlowPolicy::backward_policy(const torch::Tensor& beliefs) {
  return normalised(scores(beliefs, /*backward=*/true), arrivals_).index_fill(1, stops_, 0);
}

torch::Tensor FlowPolicy::log_flows(const torch::Tensor& log_forward) const {
  const auto rows = log_forward.size(0);
  const auto policy = padded(log_forward, -INFINITY);
  auto flows = torch::zeros({rows, 1}, log_forward.options());  // of the states so far
  for (std::size_t depth = 1; depth < first_of_depth_.size(); ++depth) {
    const auto begin = first_of_depth_[depth];
    const auto end = depth + 1 < first_of_depth_.size() ? first_of_depth_[depth + 1] : network_->sink() + 1;
    const auto arrivals = arrivals_.members.slice(0, begin, end).flatten();
    const auto before = flows.index_select(1, from_.index_select(0, arrivals));
    const auto along_them = (before + policy.index_select(1, arrivals)).view({rows, end - begin, -1});
    flows = torch::cat({flows, along_them.logsumexp(2)}, 1);
  }
  return flows;
}

torch::Tensor FlowPolicy::end_log_probs(const torch::Tensor& log_forward) const {
  return log_flows(log_forward).index_select(1, stopped_at_) + log_forward.index_select(1, stops_);
}

torch::Tensor FlowPolicy::log_rewards(const torch::Tensor& beliefs) const {
  const auto logs = beliefs.to(torch::kFloat64).log();  // [rows, worlds, domain]
  const auto values = worlds_.t().unsqueeze(0).expand({beliefs.size(0), -1, -1});
  return logs.gather(2, values).sum(1);
}

Trajectories FlowPolicy::draw_forward(const torch::Tensor& log_forward, const at::Generator& generator) const {
  const torch::NoGradGuard no_gradients;
  const auto rows = log_forward.size(0), actions = log_forward.size(1);
  const auto probabilities = padded(log_forward.exp(), 0);
  auto state = torch::zeros({rows}, torch::kInt64);
  auto ends = torch::zeros({rows}, torch::kInt64);
  std::vector<torch::Tensor> steps;
  for (std::int64_t step = 0; step < network_->deepest(); ++step) {
    const auto offered = departures_.members.index_select(0, state);  // [rows, most]
    auto shares = probabilities.gather(1, offered);
    shares.select(1, 0).masked_fill_(state == network_->sink(), 1);  // stays there
    const auto drawn = sample_worlds(shares.unsqueeze(1), generator);
    const auto taken = offered.gather(1, drawn).squeeze(1);
    ends = torch::where(taken < actions, torch::maximum(ends, end_of_.index_select(0, taken)), ends);
    state = to_.index_select(0, taken);
    steps.push_back(taken);
  }
  return {torch::stack(steps, 1), ends};
}

Trajectories FlowPolicy::draw_backward(const torch::Tensor& log_backward, const torch::Tensor& ends,
                                       const at::Generator& generator) const {
  const torch::NoGradGuard no_gradients;
  const auto probabilities = padded(for_rows(log_backward, ends.size(0)).exp(), 0);
  auto state = stopped_at_.index_select(0, ends);
  std::vector<torch::Tensor> steps{stops_.index_select(0, ends)};
  for (std::int64_t step = 1; step < network_->deepest(); ++step) {
    const auto offered = arrivals_.members.index_select(0, state);
    auto shares = probabilities.gather(1, offered);
    shares.select(1, 0).masked_fill_(state == network_->source(), 1);
    const auto drawn = sample_worlds(shares.unsqueeze(1), generator);
    const auto taken = offered.gather(1, drawn).squeeze(1);
    state = from_.index_select(0, taken);
    steps.push_back(taken);
  }
  return {torch::stack(steps, 1), ends};
}

torch::Tensor FlowPolicy::along(const torch::Tensor& log_policy, const Trajectories& ways) const {
  return padded(for_rows(log_policy, ways.actions.size(0)), 0).gather(1, ways.actions).sum(1);
}

}  // namespace anesi

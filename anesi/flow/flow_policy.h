// Policies on a flow network that can be learned: P_F, which is q(w,y|P) one choice after another, and P_B.
//
// A policy is a table, one score for each action and the same for all beliefs; or a small network, which sees beliefs
// and what the state has chosen, so that equal states of different ways share everything they learn.
#pragma once

#include <torch/torch.h>

#include <memory>

#include "anesi/flow/flow_network.h"

namespace anesi {

struct FlowPolicyOptions {
  std::int64_t width = 0;  // of the network's two hidden layers; 0: a table, for one belief
};

// Ways through a network, int64 places of actions.
struct Trajectories {
  torch::Tensor actions;  // [rows, longest way], the number of all actions where a way is shorter
  torch::Tensor ends;     // [rows], places in FlowNetwork::ends()
};

// In what follows, beliefs are [rows, worlds, domain], and policies [rows, actions] hold the logarithm of each action's
// probability; [1, actions] stands for all rows.
class FlowPolicy final : public torch::nn::Module {
 public:
  FlowPolicy(std::shared_ptr<const FlowNetwork> network, const FlowPolicyOptions& options = {});

  const FlowNetwork& network() const { return *network_; }

  // log P_F, and log P_B as it is learned; the latter is 0 at the actions that stop.
  torch::Tensor forward_policy(const torch::Tensor& beliefs);
  torch::Tensor backward_policy(const torch::Tensor& beliefs);
  // log P_B that takes all ways into a state alike, [1, actions].
  const torch::Tensor& even_backward_policy() const { return even_backward_; }

  // log F of every state, [rows, states], where P_F is this and one unit flows in.
  torch::Tensor log_flows(const torch::Tensor& log_forward) const;
  // log of what P_F lets flow out at each end, [rows, ends]: log q(w, c(w)|P), summed over all ways.
  torch::Tensor end_log_probs(const torch::Tensor& log_forward) const;
  // log p(w|P) of every end, [rows, ends].
  torch::Tensor log_rewards(const torch::Tensor& beliefs) const;

  // One way for each row: along P_F, or along P_B to an end, int64 [rows].
  Trajectories draw_forward(const torch::Tensor& log_forward, const at::Generator& generator) const;
  Trajectories draw_backward(const torch::Tensor& log_backward, const torch::Tensor& ends,
                             const at::Generator& generator) const;

  // The sum of a policy along ways, [rows].
  torch::Tensor along(const torch::Tensor& log_policy, const Trajectories& ways) const;

 private:
  // Actions in groups (those that leave a state, or that lead to it), for softmax within each.
  struct Groups {
    torch::Tensor members;    // int64 [states, most], the number of all actions past the last
    torch::Tensor positions;  // int64 [actions]: where each is in `members`, flattened
  };
  Groups groups_of(std::vector<std::int64_t> FlowState::*members) const;
  static torch::Tensor normalised(const torch::Tensor& scores, const Groups& groups);
  // Scores of all actions, [rows, actions] or [1, actions], from the first half of what the network says or the second.
  torch::Tensor scores(const torch::Tensor& beliefs, bool backward);
  void make_network(std::int64_t width);

  std::shared_ptr<const FlowNetwork> network_;
  Groups departures_, arrivals_;
  torch::Tensor from_, to_, end_of_;           // int64 [actions + 1]; the last entry stays at the sink
  torch::Tensor stops_, stopped_at_, worlds_;  // of ends: int64 [ends], [ends], [ends, worlds]
  std::vector<std::int64_t> first_of_depth_;   // places of states
  torch::Tensor even_backward_;
  torch::Tensor forward_scores_, backward_scores_;  // a table's, [1, actions]
  torch::Tensor features_, slots_;  // [states, features]; int64 [actions]: state's row times slots + slot
  torch::nn::Linear of_state_ = nullptr, of_beliefs_ = nullptr, hidden_ = nullptr, head_ = nullptr;
};

}  // namespace anesi

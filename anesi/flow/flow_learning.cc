#include "anesi/flow/flow_learning.h"

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/losses/amortized.h"
#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// f and b of ways, [rows] each.
struct Balance {
  torch::Tensor forward, backward;
};

// What is known of the beliefs of an update, each as often as ways are drawn of it.
class Update {
 public:
  Update(FlowPolicy& policy, const torch::Tensor& beliefs, const FlowLearningOptions& options,
         const at::Generator& generator)
      : policy_(policy), backward_kind_(options.backward), generator_(generator) {
    const auto each = [&](const torch::Tensor& rows) { return rows.repeat_interleave(options.draws, 0); };
    forward_ = each(policy.forward_policy(beliefs).expand({beliefs.size(0), -1}));
    if (backward_kind_ == BackwardKind::kLearned) {
      backward_ = each(policy.backward_policy(beliefs).expand({beliefs.size(0), -1}));
    }
    if (backward_kind_ == BackwardKind::kUniform) backward_ = policy.even_backward_policy();
    if (backward_kind_ == BackwardKind::kFlow) end_log_probs_ = policy.end_log_probs(forward_);
    rewards_ = each(policy.log_rewards(beliefs));
  }

  // On ways that P_F draws.
  Balance on() const { return along(policy_.draw_forward(forward_, generator_)); }
  // On ways to worlds that beliefs draw; P_B does not matter where it is that of the flow.
  Balance off() const {
    const auto ends = sample_worlds(rewards_.exp().unsqueeze(1), generator_).squeeze(1);
    const auto& policy = backward_.defined() ? backward_ : policy_.even_backward_policy();
    return along(policy_.draw_backward(policy.detach(), ends, generator_));
  }

 private:
  Balance along(const Trajectories& ways) const {
    const auto of_end = [&](const torch::Tensor& all) { return all.gather(1, ways.ends.unsqueeze(1)).squeeze(1); };
    const auto reward = of_end(rewards_);
    if (backward_kind_ == BackwardKind::kFlow) return {of_end(end_log_probs_), reward};
    return {policy_.along(forward_, ways), reward + policy_.along(backward_, ways)};
  }

  FlowPolicy& policy_;
  BackwardKind backward_kind_;
  at::Generator generator_;
  torch::Tensor forward_, backward_, end_log_probs_, rewards_;
};

torch::Tensor joint_matching(const Balance& balance) {
  return squared_log_ratio(balance.forward, balance.backward).mean();
}

// The mean of the other draws of the same belief, [beliefs, draws].
torch::Tensor mean_of_others(const torch::Tensor& values) {
  return (values.sum(1, /*keepdim=*/true) - values) / static_cast<double>(values.size(1) - 1);
}

}  // namespace

torch::Tensor flow_objective(FlowPolicy& policy, const torch::Tensor& beliefs, const FlowLearningOptions& options,
                             const at::Generator& generator) {
  const bool joint = options.objective <= Objective::kJointBoth;
  if (!joint && options.backward == BackwardKind::kLearned) {
    throw UsageError(name_of(options.objective) + ": only joint matching learns P_B; set it to uniform or flow");
  }
  if (options.objective == Objective::kReverseKl && options.draws < 2) {
    throw UsageError("reverse_kl: its baseline takes two draws of each belief or more");
  }
  const Update update(policy, beliefs, options, generator);
  switch (options.objective) {
    case Objective::kJointOff:
      return joint_matching(update.off());
    case Objective::kJointOn:
      return joint_matching(update.on());
    case Objective::kJointBoth:
      return (joint_matching(update.off()) + joint_matching(update.on())) / 2;
    case Objective::kForwardKl:
      return -update.off().forward.mean();
    case Objective::kReverseKl: {
      const auto [forward, backward] = update.on();
      const auto cost = (forward - backward).detach().view({-1, options.draws});
      return ((cost - mean_of_others(cost)).flatten() * forward).mean();
    }
    case Objective::kHellinger: {
      const auto [forward, backward] = update.off();
      return 1 - ((forward - backward) / 2).exp().mean();
    }
  }
  throw Error("no such objective");
}

DrawBeliefs always(const torch::Tensor& belief) {
  return [belief](std::int64_t rows, const at::Generator&) { return belief.unsqueeze(0).expand({rows, -1, -1}); };
}

void learn_flow(FlowPolicy& policy, const DrawBeliefs& draw, const FlowLearningOptions& options, std::uint64_t seed,
                const FlowProgress& progress) {
  const auto generator = seeded(seed);
  Adam optimizer(policy.parameters());
  const Schedule schedule{.lr = options.learning_rate, .shape = Shape::kCosine};
  for (std::int64_t step = 0; step < options.steps; ++step) {
    optimizer.zero_gradients();
    const auto loss = flow_objective(policy, draw(options.beliefs, generator), options, generator);
    if (!std::isfinite(loss.item<double>())) throw Error("flow: the loss is not a finite number; a lower lr may help");
    loss.backward();
    const auto rate = schedule.at(step, options.steps);
    optimizer.step(rate.learning_rate, rate.beta1);
    if (progress) progress(step + 1);
  }
  optimizer.zero_gradients();
}

Flow learned_flow(const std::shared_ptr<const FlowNetwork>& network, const torch::Tensor& belief,
                  const FlowLearningOptions& options, std::uint64_t seed, const FlowProgress& progress) {
  FlowPolicy policy(network);
  learn_flow(policy, always(belief), options, seed, progress);
  const torch::NoGradGuard no_gradients;
  const auto forward = policy.forward_policy(belief.unsqueeze(0)).exp().contiguous();
  const auto* const first = forward.const_data_ptr<double>();
  return flow_of_policy(*network, {first, first + forward.numel()});
}

FlowDivergences flow_divergences(FlowPolicy& policy, const torch::Tensor& beliefs) {
  const auto log_q = policy.end_log_probs(policy.forward_policy(beliefs)), log_p = policy.log_rewards(beliefs);
  const auto ratio = log_p - log_q;
  const auto mean_of = [&](const torch::Tensor& log, const torch::Tensor& values) {  // 0 log 0 is 0
    return torch::where(log.isneginf(), torch::zeros_like(values), log.exp() * values).sum(1);
  };
  return {mean_of(log_p.expand_as(ratio), ratio), mean_of(log_q.expand_as(ratio), -ratio)};
}

}  // namespace anesi

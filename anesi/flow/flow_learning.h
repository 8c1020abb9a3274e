// Learning a flow from its rewards: trajectory balance, and the divergences it is related to (appendix E of the paper).
//
// Trajectory balance wants log P_F of a whole way to be log p(w|P) + log P_B of it; the partition function is known to
// be 1. In a tree P_B is 1, and it is joint matching.
#pragma once

#include <array>
#include <functional>

#include "anesi/flow/exact_flow.h"
#include "anesi/flow/flow_policy.h"
#include "anesi/options/option_table.h"

namespace anesi {

// With f = log P_F(way) and b = log p(w|P) + log P_B(way):
//   joint_off    (f - b)^2 on ways to worlds that beliefs draw      (the paper's joint matching)
//   joint_on     (f - b)^2 on ways that P_F draws itself            (the gradient of the drawing is ignored)
//   joint_both   half of each
//   forward_kl   KL(p||q): -f on ways to worlds that beliefs draw
//   reverse_kl   KL(q||p): by the score function, with the mean of the other draws of a belief as baseline
//   hellinger    the squared Hellinger distance, 1 - E_p[exp((f - b) / 2)], on ways to worlds that beliefs draw
enum class Objective { kJointOff, kJointOn, kJointBoth, kForwardKl, kReverseKl, kHellinger };
constexpr std::array<std::string_view, 6> names_of(Objective) {
  return {"joint_off", "joint_on", "joint_both", "forward_kl", "reverse_kl", "hellinger"};
}

// What P_B is while P_F learns: even between all ways into a state; learned beside it, which only joint matching does;
// or the one that P_F's own flow has. Then f - b is log q(w,y|P) - log p(w|P) with q summed over all ways, the same on
// each of them.
enum class BackwardKind { kUniform, kLearned, kFlow };
constexpr std::array<std::string_view, 3> names_of(BackwardKind) { return {"uniform", "learned", "flow"}; }

struct FlowLearningOptions {
  Objective objective = Objective::kJointOn;
  BackwardKind backward = BackwardKind::kUniform;
  std::int64_t steps = 1000;
  std::int64_t beliefs = 16, draws = 4;  // in a step, and ways drawn of each
  double learning_rate = 0.05;           // falls to nearly nothing along a cosine
};

// What an update minimises, for beliefs [rows, worlds, domain]; one number. Throws UsageError where P_B is to be
// learned by something else than joint matching, or reverse_kl has one draw alone.
torch::Tensor flow_objective(FlowPolicy& policy, const torch::Tensor& beliefs, const FlowLearningOptions& options,
                             const at::Generator& generator);

using DrawBeliefs = std::function<torch::Tensor(std::int64_t rows, const at::Generator& generator)>;
// The same belief, [worlds, domain], over and over: what a table learns.
DrawBeliefs always(const torch::Tensor& belief);

// Told after each step how many there were.
using FlowProgress = std::function<void(std::int64_t step)>;
void learn_flow(FlowPolicy& policy, const DrawBeliefs& draw, const FlowLearningOptions& options, std::uint64_t seed,
                const FlowProgress& progress = {});

// The flow of one belief, [worlds, domain], as a table learns it.
Flow learned_flow(const std::shared_ptr<const FlowNetwork>& network, const torch::Tensor& belief,
                  const FlowLearningOptions& options, std::uint64_t seed, const FlowProgress& progress = {});

// KL(p||q) and KL(q||p) in nats, exactly, each [rows].
struct FlowDivergences {
  torch::Tensor forward, reverse;
};
FlowDivergences flow_divergences(FlowPolicy& policy, const torch::Tensor& beliefs);

}  // namespace anesi

#include "anesi/flow/flow_learning.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/flow/problem_flow.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

std::shared_ptr<const FlowNetwork> either(FlowView view) {
  return std::make_shared<const FlowNetwork>(
      Space{2, 2}, Space{2}, [](Values w, MutableValues y) { y[0] = std::max(w[0], w[1]); }, view);
}

const torch::Tensor kBelief = torch::tensor({0.7, 0.3, 0.4, 0.6}, torch::kFloat64).view({2, 2});

// A table with scores at random.
FlowPolicy random_table(const std::shared_ptr<const FlowNetwork>& network, const at::Generator& generator) {
  FlowPolicy policy(network);
  const torch::NoGradGuard no_gradients;
  for (auto& scores : policy.parameters()) scores.copy_(torch::randn(scores.sizes(), generator, torch::kFloat64));
  return policy;
}

struct Taught {
  FlowView view;
  BackwardKind backward;
  friend void PrintTo(const Taught& taught, std::ostream* out) {
    *out << name_of(taught.view) << ", P_B " << name_of(taught.backward);
  }
};

class TrajectoryBalance : public testing::TestWithParam<Taught> {};

TEST_P(TrajectoryBalance, LearnsTheFlowsOfAOrBWithinOnePercent) {
  const auto [view, backward] = GetParam();
  const auto network = either(view);
  FlowPolicy policy(network);
  learn_flow(policy, always(kBelief), {.backward = backward, .steps = 400}, /*seed=*/1);
  const torch::NoGradGuard no_gradients;
  const auto forward = policy.forward_policy(kBelief.unsqueeze(0));
  const auto learned = policy.log_flows(forward).exp()[0];
  const auto exact = exact_flow(*network, world_beliefs(kBelief, network->worlds()));
  for (std::int64_t state = 0; state <= network->sink(); ++state) {
    // Where P_B is not given, other flows carry the same rewards; outputs and ends are the same in all of them.
    const auto& world = network->states()[as_size(state)].world;
    const bool decided = std::ranges::all_of(world, [](std::int64_t value) { return value == kUnset; });
    if (backward != BackwardKind::kUniform && view != FlowView::kTree && !decided) continue;
    EXPECT_NEAR(learned[state].item<double>() / exact.states[as_size(state)], 1, 0.01) << "state " << state;
  }
  const auto ends = policy.end_log_probs(forward).exp()[0], rewards = policy.log_rewards(kBelief.unsqueeze(0)).exp()[0];
  EXPECT_TRUE(torch::allclose(ends, rewards, 0.01, 0)) << ends << rewards;
}

// P_F draws ways, and where they end is distributed as p. At this bound one draw in a hundred thousand fails by chance.
TEST_P(TrajectoryBalance, DrawsWorldsInProportionToTheirProbability) {
  constexpr double kChiSquareOfThree = 25.9;
  constexpr std::int64_t kDraws = 2000;
  const toys::RandomSeed seed;
  const auto [view, backward] = GetParam();
  FlowPolicy policy(either(view));
  learn_flow(policy, always(kBelief), {.backward = backward, .steps = 400}, /*seed=*/1);
  const torch::NoGradGuard no_gradients;
  const auto forward = policy.forward_policy(kBelief.unsqueeze(0)).expand({kDraws, -1});
  const auto counts = torch::bincount(policy.draw_forward(forward, seeded(seed)).ends, {}, 4).to(torch::kFloat64);
  const auto expected = kDraws * policy.log_rewards(kBelief.unsqueeze(0)).exp()[0];
  EXPECT_LT(((counts - expected).square() / expected).sum().item<double>(), kChiSquareOfThree) << counts << expected;
}

INSTANTIATE_TEST_SUITE_P(ViewsAndBackwardPolicies, TrajectoryBalance,
                         testing::Values(Taught{FlowView::kTree, BackwardKind::kUniform},
                                         Taught{FlowView::kLattice, BackwardKind::kUniform},
                                         Taught{FlowView::kLattice, BackwardKind::kLearned},
                                         Taught{FlowView::kLattice, BackwardKind::kFlow},
                                         Taught{FlowView::kAssignments, BackwardKind::kUniform},
                                         Taught{FlowView::kAssignments, BackwardKind::kLearned},
                                         Taught{FlowView::kAssignments, BackwardKind::kFlow}));

// As flow_of_policy() has it, which is written apart.
TEST(FlowPolicy, SumsFlowsAsTheExactOnesAre) {
  const toys::RandomSeed seed;
  for (const auto view : {FlowView::kTree, FlowView::kLattice, FlowView::kAssignments}) {
    const auto network = std::make_shared<const FlowNetwork>(make_flow_network(*toys::uneven(), view));
    auto policy = random_table(network, seeded(seed));
    const torch::NoGradGuard no_gradients;
    const auto forward = policy.forward_policy({});
    const auto shares = forward.exp().contiguous();
    const auto expected =
        flow_of_policy(*network, {shares.const_data_ptr<double>(), shares.const_data_ptr<double>() + shares.numel()});
    EXPECT_TRUE(torch::allclose(policy.log_flows(forward).exp()[0], torch::tensor(expected.states, torch::kFloat64)));
    EXPECT_NEAR(policy.end_log_probs(forward).exp().sum().item<double>(), 1, 1e-9);
    // P_B into each state sums to one, and stopping is free.
    const auto backward = policy.backward_policy({}).exp()[0];
    for (std::int64_t state = 1; state < network->sink(); ++state) {
      double sum = 0;
      for (const auto arrival : network->states()[as_size(state)].arrivals) sum += backward[arrival].item<double>();
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

TEST(FlowPolicy, DrawsWaysThatLeadFromTheSourceToTheirEnds) {
  const toys::RandomSeed seed;
  const auto network = std::make_shared<const FlowNetwork>(make_flow_network(*toys::uneven(), FlowView::kLattice));
  auto policy = random_table(network, seeded(seed));
  const torch::NoGradGuard no_gradients;
  const auto actions = static_cast<std::int64_t>(network->actions().size());
  const auto forward = policy.forward_policy({}).expand({50, -1});
  const auto there = policy.draw_forward(forward, seeded(seed));
  const auto back = policy.draw_backward(policy.even_backward_policy(), there.ends, seeded(seed));
  for (std::int64_t row = 0; row < 50; ++row) {
    const auto& end = network->ends()[as_size(there.ends[row].item<std::int64_t>())];
    std::vector<std::int64_t> forth, reversed;
    for (std::int64_t step = 0; step < there.actions.size(1); ++step) {
      const auto one = there.actions[row][step].item<std::int64_t>(),
                 other = back.actions[row][step].item<std::int64_t>();
      if (one < actions) forth.push_back(one);
      if (other < actions) reversed.push_back(other);
    }
    std::ranges::reverse(reversed);
    for (const auto& way : {forth, reversed}) {
      std::int64_t state = network->source();
      for (const auto action : way) {
        EXPECT_EQ(network->actions()[as_size(action)].from, state);
        state = network->actions()[as_size(action)].to;
      }
      EXPECT_EQ(state, network->sink());
      EXPECT_EQ(way.back(), end.stop);
    }
  }
}

// grad KL(q||p) = 1/2 E_q[grad TB], appendix E.2 of the paper, by going through all ways of a tree.
TEST(Divergences, OnPolicyTrajectoryBalanceHasTheGradientOfTheReverseKl) {
  const toys::RandomSeed seed;
  const auto problem = toys::uneven();
  const auto network = std::make_shared<const FlowNetwork>(make_flow_network(*problem, FlowView::kTree));
  auto policy = random_table(network, seeded(seed));
  const auto beliefs = toys::random_beliefs(1, problem->worlds(), 1, seeded(seed));
  const auto scores = policy.parameters()[0];
  const auto gradient = [&](const torch::Tensor& value) { return torch::autograd::grad({value}, {scores})[0]; };
  const auto of_divergence = gradient(flow_divergences(policy, beliefs).reverse.sum());
  const auto log_q = policy.end_log_probs(policy.forward_policy(beliefs));
  const auto balance = (log_q - policy.log_rewards(beliefs)).square();
  const auto of_balance = gradient((log_q.exp().detach() * balance).sum() / 2);
  EXPECT_TRUE(torch::allclose(of_divergence, of_balance, 1e-9, 1e-12)) << of_divergence << of_balance;
  EXPECT_GT(of_divergence.abs().max().item<double>(), 1e-3);
  // Off policy there is no such identity.
  const auto log_q_again = policy.end_log_probs(policy.forward_policy(beliefs));
  const auto off = (policy.log_rewards(beliefs).exp() * (log_q_again - policy.log_rewards(beliefs)).square()).sum() / 2;
  const auto forward = gradient(flow_divergences(policy, beliefs).forward.sum());
  EXPECT_FALSE(torch::allclose(gradient(off), forward, 1e-3, 1e-6));
}

// What is drawn estimates what it should, which a small tree tells exactly: the values and the gradients.
TEST(Divergences, ObjectivesAreWhatTheySay) {
  const toys::RandomSeed seed;
  const auto network = either(FlowView::kTree);
  auto policy = random_table(network, seeded(seed));
  const auto scores = policy.parameters()[0];
  const auto beliefs = kBelief.unsqueeze(0);
  const auto gradient = [&](const torch::Tensor& value) { return torch::autograd::grad({value}, {scores})[0]; };
  const auto log_p = policy.log_rewards(beliefs);
  const auto exact = [&](Objective objective) {
    const auto log_q = policy.end_log_probs(policy.forward_policy(beliefs));
    const auto squared = (log_q - log_p).square(), q = log_q.exp().detach();
    switch (objective) {
      case Objective::kJointOff:
        return (log_p.exp() * squared).sum();
      case Objective::kJointOn:
        return (q * squared).sum();
      case Objective::kJointBoth:
        return ((log_p.exp() + q) * squared).sum() / 2;
      case Objective::kForwardKl:
        return -(log_p.exp() * log_q).sum();
      case Objective::kReverseKl:
        return (log_q.exp() * (log_q - log_p)).sum();
      default:
        return 1 - ((log_q + log_p) / 2).exp().sum();
    }
  };
  for (std::size_t index = 0; index < names_of(Objective{}).size(); ++index) {
    const auto objective = static_cast<Objective>(index);
    const auto sampled = flow_objective(policy, beliefs.expand({4000, -1, -1}), {.objective = objective}, seeded(seed));
    if (objective != Objective::kReverseKl) {  // whose value is a score function's, not the divergence
      EXPECT_NEAR(sampled.item<double>(), exact(objective).item<double>(), 0.15) << name_of(objective);
    }
    const auto found = gradient(sampled), expected = gradient(exact(objective));
    EXPECT_LT((found - expected).abs().max().item<double>(), 0.15) << name_of(objective);
  }
}

TEST(Divergences, OfANetworkThatLearnsOnManyBeliefsFall) {
  torch::manual_seed(3);
  const auto network = either(FlowView::kLattice);
  FlowPolicy policy(network, {.width = 32});
  FixedDirichlet prior(network->worlds(), 1);
  const auto tested = prior.sample(50, seeded(9));
  const auto before = flow_divergences(policy, tested);
  learn_flow(
      policy, [&](std::int64_t rows, const at::Generator& generator) { return prior.sample(rows, generator); },
      {.steps = 500, .learning_rate = 1e-2}, /*seed=*/1);
  const auto after = flow_divergences(policy, tested);
  EXPECT_LT(after.forward.mean().item<double>(), 0.02);
  EXPECT_LT(after.reverse.mean().item<double>(), 0.1 * before.reverse.mean().item<double>());
}

TEST(Divergences, RefuseWhatTheyCannotLearn) {
  FlowPolicy policy(either(FlowView::kLattice));
  const auto beliefs = kBelief.unsqueeze(0);
  EXPECT_THROW(flow_objective(policy, beliefs, {.objective = Objective::kForwardKl, .backward = BackwardKind::kLearned},
                              seeded(1)),
               UsageError);
  EXPECT_THROW(flow_objective(policy, beliefs, {.objective = Objective::kReverseKl, .draws = 1}, seeded(1)),
               UsageError);
}

}  // namespace
}  // namespace anesi

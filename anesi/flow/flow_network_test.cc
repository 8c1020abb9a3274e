#include "anesi/flow/flow_network.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/flow/problem_flow.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

constexpr std::array kViews{FlowView::kTree, FlowView::kLattice, FlowView::kAssignments};

FlowNetwork a_or_b(FlowView view) {
  return FlowNetwork(
      Space{2, 2}, Space{2}, [](Values w, MutableValues y) { y[0] = std::max(w[0], w[1]); }, view);
}

// What flows through the state with these choices.
double through(const FlowNetwork& network, const Flow& flow, const std::vector<std::int64_t>& output,
               const std::vector<std::int64_t>& world) {
  for (std::size_t state = 0; state < network.states().size(); ++state) {
    const auto& at = network.states()[state];
    if (at.output == output && at.world == world) return flow.states[state];
  }
  ADD_FAILURE() << "there is no such state";
  return 0;
}

constexpr std::int64_t kOpen = kUnset;
constexpr double kA = 0.3, kB = 0.6;
const WorldBeliefs kBeliefs{{1 - kA, kA}, {1 - kB, kB}};

TEST(FlowNetwork, OfAOrBHasThePapersNodes) {
  EXPECT_EQ(a_or_b(FlowView::kTree).nodes(), 10);    // P, 2 outputs, then 2 + 3 where y is 1 and 1 + 1 where it is 0
  EXPECT_EQ(a_or_b(FlowView::kLattice).nodes(), 6);  // P, {} for each output, {A}, {B}, {A, B}
  EXPECT_EQ(a_or_b(FlowView::kAssignments).nodes(), 13);
  EXPECT_EQ(a_or_b(FlowView::kTree).actions().size(), 9U + 4U);
  EXPECT_EQ(a_or_b(FlowView::kLattice).actions().size(), 6U + 4U);
}

TEST(FlowNetwork, OfAOrBCarriesThePapersFlows) {
  for (const auto view : kViews) {
    const auto network = a_or_b(view);
    const auto flow = exact_flow(network, kBeliefs);
    EXPECT_NEAR(flow.states.front(), 1, 1e-9);
    EXPECT_NEAR(flow.states.back(), 1, 1e-9);
    EXPECT_NEAR(through(network, flow, {1}, {kOpen, kOpen}), kA + kB - kA * kB, 1e-9);
    EXPECT_NEAR(through(network, flow, {0}, {kOpen, kOpen}), (1 - kA) * (1 - kB), 1e-9);
    EXPECT_LT(largest_imbalance(network, flow), 1e-12);
  }
  const auto tree = a_or_b(FlowView::kTree);
  const auto flow = exact_flow(tree, kBeliefs);
  EXPECT_NEAR(through(tree, flow, {1}, {1, kOpen}), kA, 1e-9);
  EXPECT_NEAR(through(tree, flow, {1}, {0, kOpen}), (1 - kA) * kB, 1e-9);
  EXPECT_NEAR(through(tree, flow, {1}, {1, 0}), kA * (1 - kB), 1e-9);
  const auto lattice = a_or_b(FlowView::kLattice);
  const auto shared = exact_flow(lattice, kBeliefs);
  EXPECT_NEAR(through(lattice, shared, {1}, {1, kOpen}), kA * (1 - kB) + kA * kB / 2, 1e-9);
  EXPECT_NEAR(through(lattice, shared, {1}, {1, 1}), kA * kB, 1e-9);
}

// A state's flow is the probability of what it has chosen, shared out evenly between the orders: p(w_S, y|P) divided by
// how many sets of as many variables there are.
TEST(FlowNetwork, OfAssignmentsSharesOutOrdersEvenly) {
  const auto network = a_or_b(FlowView::kAssignments);
  const auto flow = exact_flow(network, kBeliefs);
  EXPECT_NEAR(through(network, flow, {1}, {1, kOpen}), kA / 2, 1e-9);
  EXPECT_NEAR(through(network, flow, {1}, {kOpen, 0}), kA * (1 - kB) / 2, 1e-9);
}

class EveryProblemAndView : public testing::TestWithParam<FlowView> {
 protected:
  static std::vector<std::shared_ptr<const Problem>> problems() {
    return {toys::sum_of_two(), toys::uneven(), toys::small_formula(), std::make_shared<toys::Addition>(1, 4)};
  }
};

TEST_P(EveryProblemAndView, FlowsAreProbabilities) {
  const toys::RandomSeed seed;
  for (const auto& problem : problems()) {
    const auto network = make_flow_network(*problem, GetParam());
    const auto beliefs = toys::random_beliefs(1, problem->worlds(), 1, seeded(seed));
    const auto flow = exact_flow(network, world_beliefs(beliefs[0], problem->worlds()));
    EXPECT_LT(largest_imbalance(network, flow), 1e-12);
    const auto exact = make_exact(*problem, {.method = "enumerate"});
    for (std::size_t place = 0; place < network.states().size(); ++place) {
      const auto& state = network.states()[place];
      const auto unset = [](std::int64_t value) { return value == kUnset; };
      if (state.output.empty() || std::ranges::any_of(state.output, unset) || !std::ranges::all_of(state.world, unset))
        continue;
      const auto expected = exact->log_prob(beliefs, tensor_of(state.output).unsqueeze(0)).exp().item<double>();
      EXPECT_NEAR(flow.states[place], expected, 1e-9);
    }
  }
}

TEST_P(EveryProblemAndView, StatesComeBeforeWhatTheyLeadTo) {
  for (const auto& problem : problems()) {
    const auto network = make_flow_network(*problem, GetParam());
    for (const auto& action : network.actions()) EXPECT_LT(action.from, action.to);
    for (std::int64_t state = 1; state < network.sink(); ++state) {
      const auto& arrivals = network.states()[as_size(state)].arrivals;
      EXPECT_GE(arrivals.size(), 1U);
      if (GetParam() == FlowView::kTree) {
        EXPECT_EQ(arrivals.size(), 1U);
      }
    }
    EXPECT_EQ(static_cast<double>(network.ends().size()), problem->worlds().points());
  }
}

// A flow is as well said by the policies that it is of, and any policy that leads to the same rewards is as good.
TEST_P(EveryProblemAndView, PoliciesGiveTheFlowBack) {
  const toys::RandomSeed seed;
  for (const auto& problem : problems()) {
    const auto network = make_flow_network(*problem, GetParam());
    const auto beliefs =
        world_beliefs(toys::random_beliefs(1, problem->worlds(), 1, seeded(seed))[0], problem->worlds());
    const auto rewards = flow_rewards(network, beliefs);
    // A P_B at random; the flow's own forward policy then leads to the same rewards.
    std::mt19937_64 random(seed);
    auto backward = uniform_backward(network);
    for (const auto& state : network.states()) {
      double sum = 0;
      for (const auto arrival : state.arrivals)
        sum += backward[as_size(arrival)] = std::uniform_real_distribution(0.1, 1.0)(random);
      for (const auto arrival : state.arrivals) backward[as_size(arrival)] /= sum;
    }
    const auto flow = flow_of_rewards(network, rewards, backward);
    const auto again = flow_of_policy(network, forward_policy(network, flow));
    const auto found = backward_policy(network, again);
    for (std::size_t action = 0; action < flow.actions.size(); ++action) {
      EXPECT_NEAR(again.actions[action], flow.actions[action], 1e-12);
      if (network.actions()[action].to != network.sink()) {
        EXPECT_NEAR(found[action], backward[action], 1e-9);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Views, EveryProblemAndView, testing::ValuesIn(kViews),
                         [](const auto& view) { return name_of(view.param); });

TEST(FlowNetwork, OfManyBinaryVariablesIsSmallestAsALattice) {
  // At least one of n: 2^n sets where y is 1, the empty one too, and one where it is 0.
  const auto any = [](Values w, MutableValues y) { y[0] = std::ranges::max(w); };
  for (const std::int64_t variables : {3, 5, 8}) {
    const auto worlds = Space::uniform(variables, 2);
    const FlowNetwork tree(worlds, Space{2}, any, FlowView::kTree), lattice(worlds, Space{2}, any, FlowView::kLattice);
    EXPECT_EQ(lattice.nodes(), 1 + (std::int64_t{1} << variables) + 1);
    EXPECT_EQ(tree.nodes(), 1 + ((std::int64_t{2} << variables) - 1) - 1 + 1 + variables);
  }
}

TEST(FlowNetwork, RefusesWhatIsTooLargeAndBeliefsThatAreNone) {
  const auto zero = [](Values, MutableValues y) { y[0] = 0; };
  EXPECT_THROW(FlowNetwork(Space::uniform(30, 2), Space{2}, zero, FlowView::kTree), Error);
  EXPECT_THROW(FlowNetwork(Space::uniform(12, 2), Space{2}, zero, FlowView::kAssignments), Error);
  const auto network = a_or_b(FlowView::kTree);
  EXPECT_THROW(flow_rewards(network, {{0.5, 0.5}}), UsageError);
  EXPECT_THROW(flow_rewards(network, {{0.5, 0.5}, {0.7, 0.7}}), UsageError);
  EXPECT_THROW(flow_rewards(network, {{0.5, 0.5}, {1.5, -0.5}}), UsageError);
  EXPECT_THROW(flow_rewards(network, {{0.5, 0.5}, {0.5, NAN}}), UsageError);
}

}  // namespace
}  // namespace anesi

#include "anesi/formula/constraint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/sample.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

// At most one of three lights, and the first or the last: two worlds of eight.
Cnf lights() { return {Encoding{.worlds = {{-1, 1}, {-2, 2}, {-3, 3}}}, 3, {{-1, -2}, {-1, -3}, {-2, -3}, {1, 3}}}; }

// Variable 0 has three values (literals 1 to 3), variable 1 has two; not value 2 with value 1.
Cnf mixed() {
  return {Encoding{.worlds = {{1, 2, 3}, {-4, 4}}}, 4, {{1, 2, 3}, {-1, -2}, {-1, -3}, {-2, -3}, {-3, -4}}};
}

class Constraints : public testing::TestWithParam<Cnf (*)()> {
 protected:
  std::shared_ptr<const Problem> problem_ = make_constraint(compiled_formula(GetParam()()));
  std::unique_ptr<ExactInference> circuit_ = make_exact(*problem_, {.method = "circuit"}),
                                  truth_ = make_exact(*problem_, {.method = "enumerate"});
  toys::RandomSeed seed_;
  torch::Tensor beliefs_ = toys::random_beliefs(20, problem_->worlds(), 1, seeded(seed_));
};

TEST_P(Constraints, AreCountedAsEnumerationDoes) {
  for (const std::int64_t output : {1, 0}) {
    const auto outputs = torch::full({20, 1}, output, torch::kInt64);
    const auto gradient_of = [&](const ExactInference& inference) {
      const auto variable = beliefs_.clone().requires_grad_();
      inference.log_prob(variable, outputs).sum().backward();
      return variable.grad();
    };
    EXPECT_TRUE(torch::allclose(circuit_->log_prob(beliefs_, outputs), truth_->log_prob(beliefs_, outputs)));
    EXPECT_TRUE(torch::allclose(circuit_->marginals(beliefs_, outputs), truth_->marginals(beliefs_, outputs)));
    EXPECT_TRUE(torch::allclose(gradient_of(*circuit_) * beliefs_, gradient_of(*truth_) * beliefs_));
    const auto best = circuit_->most_probable(beliefs_, outputs), expected = truth_->most_probable(beliefs_, outputs);
    EXPECT_TRUE(torch::allclose(best.log_prob, expected.log_prob)) << output;
    EXPECT_TRUE(torch::equal(apply(*problem_, best.worlds), outputs));
    EXPECT_TRUE(torch::equal(apply(*problem_, circuit_->sample(beliefs_, outputs, seeded(1))), outputs));
  }
}

// As perception believes: 32-bit numbers, which sum to one only nearly, and all but certain of worlds that satisfy.
torch::Tensor sure_beliefs(const Problem& problem, const ExactInference& exact, double nats) {
  const auto worlds =
      exact.sample(uniform_beliefs(200, problem.worlds()), torch::ones({200, 1}, torch::kInt64), seeded(2));
  const auto surely = certain_beliefs(worlds, problem.worlds());
  const auto logits = nats * surely + torch::rand(surely.sizes(), seeded(3));
  const auto possible = uniform_beliefs(200, problem.worlds()) > 0;  // domains differ
  return logits.masked_fill(possible.logical_not(), -INFINITY).to(torch::kFloat32).softmax(2);
}

TEST_P(Constraints, RareViolationsAreCountedAsEnumerationDoes) {
  const auto beliefs = sure_beliefs(*problem_, *circuit_, /*nats=*/9);
  const auto violated = torch::zeros({200, 1}, torch::kInt64);
  EXPECT_TRUE(torch::allclose(circuit_->log_prob(beliefs, violated), truth_->log_prob(beliefs, violated)));
  EXPECT_TRUE(
      torch::allclose(circuit_->marginals(beliefs, violated), truth_->marginals(beliefs, violated), 1e-5, 1e-6));
}

TEST_P(Constraints, RareViolationsAreDrawnUnderThePruner) {
  const auto beliefs = sure_beliefs(*problem_, *circuit_, /*nats=*/14);
  const auto violated = torch::zeros({200, 1}, torch::kInt64);
  const auto q = make_exact_model(*problem_, {.method = "circuit"});
  const SymbolicPruning pruning(problem_->facts().share<Pruner>());
  const auto drawn = sample(*q.explanation, {beliefs, violated}, seeded(4), &pruning);
  EXPECT_TRUE(torch::equal(apply(*problem_, drawn.values), violated));
  EXPECT_FALSE(drawn.log_prob.isnan().any().item<bool>());
}

TEST_P(Constraints, LeaveBeliefsAsTheyAreWhereTheySayNothing) {
  // Nothing is asked of the first ten; the others are certain of a violation whatever else holds.
  auto outputs = torch::zeros({20, 1}, torch::kInt64);
  outputs.slice(0, 0, 10).fill_(kUnset);
  const auto last = tensor_of(problem_->worlds().domains()).slice(0, 0, 2) - 1;
  beliefs_.slice(0, 10).slice(1, 0, 2).copy_(torch::one_hot(last, beliefs_.size(2)));
  ASSERT_LT(circuit_->log_prob(beliefs_, outputs).abs().max().item<double>(), 1e-12);
  EXPECT_TRUE(torch::allclose(circuit_->marginals(beliefs_, outputs), truth_->marginals(beliefs_, outputs)));
}

TEST_P(Constraints, HaveTheEntropyOfTheirWorlds) {
  const auto outputs = torch::ones({20, 1}, torch::kInt64);
  auto expected = torch::zeros({20}, torch::kFloat64);
  const auto log_count = truth_->log_prob(beliefs_, outputs);
  problem_->worlds().for_each_point([&](Values world) {
    if (apply_to(*problem_, world)[0] != 1) return;
    const auto row = torch::tensor(std::vector<std::int64_t>(world.begin(), world.end())).unsqueeze(0).expand({20, -1});
    const auto log_share = world_log_prob(beliefs_, row) - log_count;
    expected -= log_share.exp() * log_share;
  });
  EXPECT_TRUE(torch::allclose(circuit_->entropy(beliefs_, outputs), expected));
  // Its gradient, by differences.
  const auto variable = beliefs_.clone().requires_grad_();
  circuit_->entropy(variable, outputs).sum().backward();
  const auto direction = torch::randn(beliefs_.sizes(), seeded(3), torch::kFloat64) * (beliefs_ > 0);
  constexpr double kStep = 1e-6;
  const auto slope = (circuit_->entropy(beliefs_ + kStep * direction, outputs) -
                      circuit_->entropy(beliefs_ - kStep * direction, outputs))
                         .sum() /
                     (2 * kStep);
  EXPECT_NEAR((variable.grad() * direction).sum().item<double>(), slope.item<double>(), 1e-4);
}

TEST_P(Constraints, ArePrunedToWhatCanBeCompleted) {
  const auto by_circuit = problem_->facts().share<Pruner>();
  const auto by_solver = make_sat_pruner(GetParam()(), problem_->worlds(), problem_->outputs());
  const auto& worlds = problem_->worlds();
  // Every partial world: kUnset is one more value of each variable.
  auto wider = worlds.domains();
  for (auto& domain : wider) ++domain;
  Space(wider).for_each_point([&](Values point) {
    std::vector<std::int64_t> partial(point.begin(), point.end());
    for (std::size_t variable = 0; variable < partial.size(); ++variable) {
      if (partial[variable] == worlds.domains()[variable]) partial[variable] = kUnset;
    }
    for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
      if (partial[static_cast<std::size_t>(variable)] != kUnset) continue;
      for (const std::int64_t output : {1, 0}) {
        std::vector<char> expected(static_cast<std::size_t>(worlds.domain(variable)), 0);
        worlds.for_each_point([&](Values world) {
          for (std::size_t place = 0; place < partial.size(); ++place) {
            if (partial[place] != kUnset && partial[place] != world[place]) return;
          }
          if (apply_to(*problem_, world)[0] == output) {
            expected[static_cast<std::size_t>(world[static_cast<std::size_t>(variable)])] = 1;
          }
        });
        for (const Pruner* const pruner : {by_circuit.get(), static_cast<const Pruner*>(by_solver.get())}) {
          const auto mask = std::make_unique<bool[]>(expected.size());
          pruner->allow_worlds(Values(&output, 1), partial, variable, Mask(mask.get(), expected.size()));
          for (std::size_t value = 0; value < expected.size(); ++value) EXPECT_EQ(mask[value], expected[value] != 0);
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(OfFormulas, Constraints, testing::Values(&lights, &mixed));

TEST(Constraint, AsksForWorldsThatSatisfyIt) {
  const auto problem = make_constraint(compiled_formula(lights()));
  EXPECT_EQ(problem->facts().find<AskedOutput>()->output, std::vector<std::int64_t>{1});
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 0, 0})[0], 1);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 0, 1})[0], 0);
}

TEST(Constraint, ThatNothingSatisfiesIsSaidToBeSo) {
  const Cnf never(Encoding{.worlds = {{-1, 1}}}, 1, {{1}, {-1}});
  EXPECT_THROW(make_constraint(compiled_formula(never)), Error);
  const KnownVariables all_on{{0, 1, 2}, [](Random&, MutableValues values) { std::ranges::fill(values, 1); }};
  EXPECT_THROW(make_constraint(compiled_formula(lights()), all_on), Error);
}

}  // namespace
}  // namespace anesi

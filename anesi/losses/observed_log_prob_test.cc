// What labels of every kind are worth, against sums over all worlds.
#include "anesi/losses/observed_log_prob.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// Sums over every world, in 64 bits.
class ObservedLogProb : public testing::Test {
 protected:
  static constexpr std::int64_t kRows = 6;

  // log of the sum of p(w|P) over the worlds that agree with `known` and give the output, or do not; [1] each.
  torch::Tensor log_sum(const torch::Tensor& belief, const torch::Tensor& known, const torch::Tensor& output,
                        bool holds) const {
    const auto agrees = (points_ == known).logical_or(known == kUnset).all(1);
    const auto gives = output.defined() ? (outputs_ == output).all(1) == holds : torch::ones_like(agrees);
    const auto worlds = points_.index({agrees.logical_and(gives)});
    auto total = torch::zeros({}, torch::kFloat64);
    for (const auto& world : worlds.unbind(0)) {
      total = total + belief.gather(1, world.unsqueeze(1)).prod();
    }
    return total.log();
  }

  torch::Tensor nothing() const { return torch::full({points_.size(1)}, kUnset, torch::kInt64); }

  // What each row of observations is worth: of a whole world with an output that holds, log p(w|y,P).
  torch::Tensor expected(const torch::Tensor& beliefs, const Observations& seen) const {
    std::vector<torch::Tensor> rows;
    for (std::int64_t row = 0; row < beliefs.size(0); ++row) {
      const auto known = seen.worlds.defined() ? seen.worlds[row] : nothing();
      const auto output = seen.outputs.defined() ? seen.outputs[row] : torch::Tensor();
      const bool holds = !seen.holds.defined() || seen.holds[row].item<bool>();
      auto value = log_sum(beliefs[row], known, output, holds);
      const bool whole = (known != kUnset).all().item<bool>();
      if (whole && holds && output.defined()) value = value - log_sum(beliefs[row], nothing(), output, true);
      rows.push_back(value);
    }
    return torch::stack(rows);
  }

  // Against sums over worlds, with an explanation model and without one.
  void expect_as_summed(const Observations& seen) const {
    const auto beliefs = beliefs_.slice(0, 0, seen.size());
    const auto sums = expected(beliefs, seen);
    EXPECT_TRUE(torch::allclose(observed_log_prob(exact_, beliefs, seen), sums, 1e-9, 1e-9)) << sums;
    EXPECT_TRUE(torch::allclose(observed_log_prob({exact_.prediction, nullptr}, beliefs, seen), sums, 1e-9, 1e-9))
        << "by Bayes' rule: " << sums;
  }

  const toys::RandomSeed seed_;
  const std::shared_ptr<const Problem> problem_ = toys::uneven();  // domains 2, 4 and 3; outputs 3 and 2
  const torch::Tensor points_ = points_of(problem_->worlds());
  const torch::Tensor outputs_ = apply(*problem_, points_);
  const InferenceModel exact_ = make_exact_model(*problem_, {.method = "enumerate"});
  const torch::Tensor beliefs_ = toys::random_beliefs(kRows, problem_->worlds(), 1, seeded(seed_));
  const torch::Tensor worlds_ = sample_worlds(uniform_beliefs(kRows, problem_->worlds()), seeded(seed_ + 1));
  const torch::Tensor given_by_them_ = apply(*problem_, worlds_);
};

TEST_F(ObservedLogProb, OfOutputsThatHoldAndThatDoNot) {
  expect_as_summed(given_by_them_);
  expect_as_summed({given_by_them_, torch::zeros({kRows}, torch::kBool)});
  expect_as_summed({given_by_them_, torch::tensor({true, false, true, false, false, true})});
}

TEST_F(ObservedLogProb, OfWholeWorldsIsThatOfTheWorldGivenTheOutput) {
  Observations seen(given_by_them_);
  seen.worlds = worlds_;
  expect_as_summed(seen);
}

TEST_F(ObservedLogProb, OfAWholeWorldWithAnOutputThatItDoesNotGiveIsNothing) {
  Observations seen(given_by_them_.slice(0, 0, 1).clone());
  seen.outputs[0][1] = 1 - seen.outputs[0][1];
  seen.worlds = worlds_.slice(0, 0, 1);
  const auto belief = beliefs_.slice(0, 0, 1);
  EXPECT_EQ(observed_log_prob(exact_, belief, seen).item<double>(), -INFINITY);
  EXPECT_EQ(observed_log_prob({exact_.prediction, nullptr}, belief, seen).item<double>(), -INFINITY);
}

TEST_F(ObservedLogProb, OfSomeVariablesIsTheirProbabilityTogetherWithTheOutput) {
  for (std::int64_t variable = 0; variable < 3; ++variable) {
    Observations one(given_by_them_), others(given_by_them_);
    one.worlds = torch::full_like(worlds_, kUnset);
    one.worlds.select(1, variable) = worlds_.select(1, variable);
    expect_as_summed(one);
    others.worlds = worlds_.clone();
    others.worlds.select(1, variable) = kUnset;
    expect_as_summed(others);
  }
  Observations none(given_by_them_);
  none.worlds = torch::full_like(worlds_, kUnset);
  expect_as_summed(none);
}

TEST_F(ObservedLogProb, OfOutputsThatDoNotHoldIsWhatIsLeftOfTheKnownVariables) {
  // What the output is not says something only where the world does not give it.
  Observations seen((given_by_them_ + 1).remainder(torch::tensor({3, 2})), torch::zeros({kRows}, torch::kBool));
  seen.worlds = worlds_.clone();
  expect_as_summed(seen);
  seen.worlds.select(1, 1) = kUnset;
  expect_as_summed(seen);
}

TEST_F(ObservedLogProb, OfWorldsWithoutOutputsNeedsNoModel) {
  Observations seen;
  seen.worlds = worlds_.clone();
  expect_as_summed(seen);
  seen.worlds.slice(0, 0, 4).select(1, 2) = kUnset;
  seen.worlds.slice(0, 0, 2).select(1, 0) = kUnset;
  expect_as_summed(seen);
  EXPECT_TRUE(torch::allclose(observed_log_prob({}, beliefs_, seen), expected(beliefs_, seen), 1e-9, 1e-9));
}

// A whole world, a part of one, nothing of one, each with an output that holds or not, in one batch and in any order.
TEST_F(ObservedLogProb, OfMixedRowsIsThatOfEachRow) {
  Observations seen(given_by_them_, torch::tensor({true, true, true, false, false, true}));
  seen.worlds = worlds_.clone();
  seen.worlds[1][0] = kUnset;
  seen.worlds[2].fill_(kUnset);
  seen.worlds[3].fill_(kUnset);
  seen.worlds[4][1] = kUnset;
  expect_as_summed(seen);
  const auto order = torch::randperm(kRows, seeded(seed_ + 2), torch::kInt64);
  const auto in_order = observed_log_prob(exact_, beliefs_, seen);
  const auto mixed = observed_log_prob(exact_, beliefs_.index_select(0, order), seen.rows(order));
  EXPECT_TRUE(torch::equal(mixed, in_order.index_select(0, order)));
}

TEST_F(ObservedLogProb, GradientsMatchThoseOfTheSumsAndFiniteDifferences) {
  Observations seen(given_by_them_, torch::tensor({true, true, true, false, false, true}));
  seen.worlds = worlds_.clone();
  seen.worlds[1][0] = kUnset;
  seen.worlds[2].fill_(kUnset);
  seen.worlds[3].fill_(kUnset);
  seen.worlds[4][1] = kUnset;
  for (const auto& model : {exact_, InferenceModel{exact_.prediction, nullptr}}) {
    const auto value = [&](const torch::Tensor& logits) {
      // Through logits, so that beliefs stay beliefs; zero past each domain, as they are.
      const auto masked = logits.masked_fill(uniform_beliefs(1, problem_->worlds()) == 0, -INFINITY);
      return observed_log_prob(model, masked.softmax(2), seen).sum();
    };
    auto logits = beliefs_.clamp_min(1e-9).log().requires_grad_();
    const auto gradient = torch::autograd::grad({value(logits)}, {logits})[0];
    const auto masked = logits.masked_fill(uniform_beliefs(1, problem_->worlds()) == 0, -INFINITY);
    const auto of_sums = torch::autograd::grad({expected(masked.softmax(2), seen).sum()}, {logits})[0];
    EXPECT_TRUE(torch::allclose(gradient, of_sums, 1e-7, 1e-9));
    const torch::NoGradGuard no_gradients;
    for (int trial = 0; trial < 5; ++trial) {
      const auto direction =
          torch::randn(logits.sizes(), seeded(seed_ + 10 + static_cast<std::uint64_t>(trial)), torch::kFloat64);
      constexpr double kStep = 1e-6;
      const auto measured =
          (value(logits + kStep * direction) - value(logits - kStep * direction)).item<double>() / (2 * kStep);
      EXPECT_NEAR(measured, (gradient * direction).sum().item<double>(), 1e-6);
    }
  }
}

// Exactly nothing; a loss that training goes through takes finite_logs().
TEST_F(ObservedLogProb, AWorldThatPerceptionRulesOutIsImpossible) {
  auto beliefs = beliefs_.clone();
  beliefs.select(1, 0).zero_();
  beliefs.select(1, 0).select(1, 0).fill_(1);
  beliefs.requires_grad_();
  Observations seen;
  seen.worlds = torch::full({kRows, points_.size(1)}, kUnset);
  seen.worlds.select(1, 0).fill_(1);
  EXPECT_TRUE(observed_log_prob(exact_, beliefs, seen).isneginf().all().item<bool>());
  const auto worth = finite_logs(beliefs).known_log_prob(seen.worlds);
  EXPECT_TRUE((worth.isfinite() & (worth < -80)).all().item<bool>()) << worth;
  worth.sum().backward();
  EXPECT_TRUE(beliefs.grad().isfinite().all().item<bool>()) << beliefs.grad();
}

TEST(ObservedUnderAPruner, IsThatOfThePrunedModels) {
  const toys::RandomSeed seed;
  const torch::NoGradGuard no_gradients;
  const toys::Addition addition(2, /*base=*/3);
  torch::manual_seed(seed);
  const auto q = make_model(addition, "scan", /*explain=*/true, {"width=8"});
  const SymbolicPruning pruning(addition.facts().share<Pruner>());
  const auto beliefs = toys::random_beliefs(4, addition.worlds(), 1, seeded(seed)).to(torch::kFloat32);
  const auto worlds = sample_worlds(beliefs, seeded(seed + 1));
  worlds[0] = torch::tensor({2, 2, 0, 0});  // of whose sum, 022, the first digit can be no 1: 122 is no sum
  const auto outputs = apply(addition, worlds);
  const auto plain = q.prediction->log_prob(beliefs, outputs),
             pruned = log_prob(*q.prediction, beliefs, outputs, &pruning);
  EXPECT_FALSE(torch::allclose(plain, pruned, 1e-4, 1e-4));
  EXPECT_TRUE(torch::equal(observed_log_prob(q, beliefs, outputs, &pruning), plain));
  EXPECT_TRUE(torch::equal(observed_log_prob(q, beliefs, outputs, &pruning, /*prunes_prediction=*/true), pruned));
  Observations seen(outputs);
  seen.worlds = worlds;
  EXPECT_TRUE(torch::equal(observed_log_prob(q, beliefs, seen, &pruning),
                           log_prob(*q.explanation, {beliefs, outputs}, worlds, &pruning)));
  seen.worlds.select(1, 0) = kUnset;
  EXPECT_TRUE(torch::allclose(
      observed_log_prob(q, beliefs, seen, &pruning, /*prunes_prediction=*/true),
      known_log_prob(beliefs, seen.worlds) + log_prob(*q.prediction, clamped(beliefs, seen.worlds), outputs, &pruning),
      1e-5, 1e-5));
}

}  // namespace
}  // namespace anesi

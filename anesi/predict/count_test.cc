#include "anesi/predict/count.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/formula/formula.h"
#include "anesi/formula/weighted_beliefs.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/mlp.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// Allows what some world completes, by trying all of them; or, where it is not exact, everything until the last
// variable is chosen, and then nothing that is wrong.
class TriesEverything final : public Pruner {
 public:
  TriesEverything(std::shared_ptr<const Problem> problem, bool exact) : problem_(std::move(problem)), exact_(exact) {}

  void allow_outputs(Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    if (!exact_ && std::ranges::count(partial, kUnset) > 1) {
      std::ranges::fill(mask, true);
      return;
    }
    problem_->worlds().for_each_point([&](Values world) {
      const auto agrees = [](std::int64_t chosen, std::int64_t value) { return chosen == kUnset || chosen == value; };
      if (!std::ranges::equal(partial, world, agrees)) return;
      if (apply_to(*problem_, world)[0] == output[0])
        mask[static_cast<std::size_t>(world[static_cast<std::size_t>(variable)])] = true;
    });
  }
  bool is_exact() const override { return exact_; }

 private:
  std::shared_ptr<const Problem> problem_;
  bool exact_;
};

class CountingASmallFormula : public testing::Test {
 protected:
  CountingASmallFormula() {
    torch::manual_seed(seed_);
    MlpOptions options;
    options.width = 8;
    explanation_ = std::make_shared<Mlp>(problem_->worlds(), problem_->outputs(), /*explains=*/true, options);
    belief_ = toys::random_beliefs(1, problem_->worlds(), 1, seeded(seed_)).to(torch::kFloat32);
    truth_ = find_exact(*problem_)->log_prob(belief_, torch::ones({1, 1}, torch::kInt64)).item<double>();
  }

  Context rows(std::int64_t count) const {
    return {belief_.expand({count, -1, -1}), torch::ones({count, 1}, torch::kInt64)};
  }

  // Whether the mean of many estimates is the truth, as far as their spread can tell.
  void expect_unbiased(const CountEstimate& estimates) const {
    const auto shares = (estimates.log_mean - truth_).exp();
    const auto error = shares.std().item<double>() / std::sqrt(static_cast<double>(shares.size(0)));
    EXPECT_NEAR(shares.mean().item<double>(), 1, 5 * error);
  }

  const toys::RandomSeed seed_;
  std::shared_ptr<const Problem> problem_ = toys::small_formula();
  std::shared_ptr<SequenceModel> explanation_;
  torch::Tensor belief_;
  double truth_ = 0;
};

TEST_F(CountingASmallFormula, IsUnbiasedWhateverIsDrawnFrom) {
  const TriesEverything exact(problem_, true);
  const SymbolicPruning pruning(exact);
  for (const auto* const some_pruning : {&pruning, static_cast<const SymbolicPruning*>(nullptr)}) {
    const auto estimates =
        estimate_log_prob(*explanation_, *problem_, rows(4000), /*samples=*/8, seeded(seed_), some_pruning);
    expect_unbiased(estimates);
    const auto lost = estimates.lost.mean().item<double>();
    EXPECT_EQ(lost > 0, some_pruning == nullptr) << lost;
  }
}

TEST_F(CountingASmallFormula, GivesDeadEndsNoWeightAndDrawsNoOthers) {
  const TriesEverything inexact(problem_, false);
  const SymbolicPruning throws(inexact), tolerates(inexact, DeadEnds::kOfferNothing);
  const auto refusal =
      toys::message_of([&] { estimate_log_prob(*explanation_, *problem_, rows(100), 8, seeded(seed_), &throws); });
  EXPECT_TRUE(toys::names(refusal, {"pruner", "variable"}));
  const auto estimates = estimate_log_prob(*explanation_, *problem_, rows(4000), 8, seeded(seed_), &tolerates);
  expect_unbiased(estimates);
  EXPECT_GT(estimates.lost.mean().item<double>(), 0);
}

TEST_F(CountingASmallFormula, KnowsHowFarOffItMayBe) {
  const TriesEverything exact(problem_, true);
  const SymbolicPruning pruning(exact);
  const auto estimates = estimate_log_prob(*explanation_, *problem_, rows(1000), 400, seeded(seed_), &pruning);
  const auto covered = (estimates.low <= truth_).logical_and(estimates.high >= truth_).to(torch::kFloat64).mean();
  EXPECT_GT(covered.item<double>(), 0.88);
  // What was found for certain brings an estimate nearer than its error says.
  const auto off = (estimates.log_prob - truth_).square().mean().sqrt().item<double>();
  EXPECT_GT(estimates.error.square().mean().sqrt().item<double>() / off, 0.8);
  EXPECT_TRUE((estimates.effective <= 400 + 1e-6).all().item<bool>());
}

// Small formulas, with weights of all sizes and without, counted as `anesi check` does. Seeds are fixed, so the shares
// are the same each time.
TEST(CountingFormulas, TruthAndEstimateAreWithinTheInterval) {
  constexpr int kFormulas = 200;
  std::mt19937_64 random(1);
  const SeededWeights seeded_weights(1);
  const auto uniform = [&](double from, double to) {
    return from + (to - from) * static_cast<double>(random() % 10001) / 10000;
  };
  int satisfiable = 0, covered = 0, exact = 0;
  for (int trial = 0; trial < kFormulas; ++trial) {
    const auto variables = 3 + static_cast<int>(random() % 9);
    const auto literals = 2 + static_cast<int>(random() % 2);
    const auto clauses = 1 + static_cast<int>(uniform(0, literals == 2 ? 1.3 : 4.0) * variables);
    Dimacs formula;
    formula.variables = variables;
    formula.clauses = random_formula(variables, clauses, literals, random).clauses();
    if (trial % 4 == 0 && variables > 5) {  // a group of which exactly one holds
      formula.clauses.push_back({1, 2, 3, 4});
      for (int one = 1; one <= 4; ++one) {
        for (int other = 1; other < one; ++other) formula.clauses.push_back({-one, -other});
      }
    }
    for (int variable = 1; trial % 3 > 0 && variable <= variables; ++variable) {
      formula.weights[variable] = trial % 3 == 1 ? uniform(0, 1) : std::pow(10, uniform(-4, 1));
      formula.weights[-variable] = trial % 3 == 1 ? 1 - formula.weights[variable] : 1;
    }
    std::shared_ptr<const Problem> problem;
    try {
      problem = formula_problem(formula, {.seconds = 0});
    } catch (const Error&) {
      continue;  // no world satisfies it
    }
    ++satisfiable;
    const auto weighted = weighted_beliefs(problem->facts().find<Cnf>()->encoding(), problem->worlds(), formula);
    const auto beliefs = tensor_of(weighted.beliefs.rows()).unsqueeze(0);
    const auto model = make_model(*problem, "graph", /*explain=*/true);
    const SymbolicPruning pruning(problem->facts().share<Pruner>(), DeadEnds::kOfferNothing);
    const Context context(beliefs.to(torch::kFloat32), torch::ones({1, 1}, torch::kInt64));
    const auto estimate = estimate_log_prob(*model.explanation, *problem, context, trial % 2 == 0 ? 200 : 2000,
                                            seeded(static_cast<std::uint64_t>(trial)), &pruning);
    const auto all = points_of(problem->worlds());
    const auto fails = apply(*problem, all).squeeze(1) != 1;
    const auto log_p = world_log_prob(beliefs.expand({all.size(0), -1, -1}), all);
    const auto truth = log_p.masked_fill(fails, -INFINITY).logsumexp(0).item<double>();
    const auto value = estimate.log_prob.item<double>(), low = estimate.low.item<double>(),
               high = estimate.high.item<double>();
    EXPECT_LE(low, value) << "formula " << trial;
    EXPECT_LE(value, high) << "formula " << trial;
    EXPECT_LE(value, 1e-6) << "formula " << trial;
    covered += low <= truth && truth <= high ? 1 : 0;
    exact += std::abs(value - truth) < 1e-6 ? 1 : 0;
  }
  EXPECT_GT(satisfiable, kFormulas / 2);
  EXPECT_GT(exact, 0);
  EXPECT_GE(covered, 0.9 * satisfiable) << satisfiable << " formulas, " << exact << " counted exactly";
}

// q is p where clauses are a tree, and all that is left is rounding, of many variables.
TEST(CountingFormulas, RoundingIsWithinTheInterval) {
  for (const int variables : {2, 20, 200}) {
    Dimacs formula;
    formula.variables = variables;
    formula.clauses.push_back({1, 2});
    const auto problem = formula_problem(formula, {.seconds = 0});
    const SeededWeights seeded_weights(1);
    const auto model = make_model(*problem, "graph", /*explain=*/true);
    const auto beliefs = toys::random_beliefs(1, problem->worlds(), 1, seeded(1));
    const auto truth = std::log1p(-beliefs[0][0][0].item<double>() * beliefs[0][1][0].item<double>());
    const SymbolicPruning pruning(problem->facts().share<Pruner>(), DeadEnds::kOfferNothing);
    const Context context(beliefs.to(torch::kFloat32), torch::ones({1, 1}, torch::kInt64));
    const auto estimate = estimate_log_prob(*model.explanation, *problem, context, 50, seeded(1), &pruning);
    EXPECT_LE(estimate.low.item<double>(), truth) << variables;
    EXPECT_GE(estimate.high.item<double>(), truth) << variables;
  }
}

TEST_F(CountingASmallFormula, IsCertainWhereDrawsFollowTheTruth) {
  const auto exact = make_exact_model(*problem_);
  const auto estimate = estimate_log_prob(*exact.explanation, *problem_, rows(1), 50, seeded(seed_));
  EXPECT_NEAR(estimate.log_prob.item<double>(), truth_, 1e-5);
  EXPECT_NEAR(estimate.error.item<double>(), 0, 1e-5);
  EXPECT_NEAR(estimate.effective.item<double>(), 50, 1e-2);
  EXPECT_EQ(estimate.lost.item<double>(), 0);
}

// Beliefs that are certain of a world which violates the formula.
TEST_F(CountingASmallFormula, SaysThatNothingWasFound) {
  const auto wrong = certain_beliefs(torch::tensor({0, 1, 0, 0}, torch::kInt64).view({1, 4}), problem_->worlds());
  const auto estimate =
      estimate_log_prob(*explanation_, *problem_, {wrong, torch::ones({1, 1}, torch::kInt64)}, 50, seeded(seed_));
  EXPECT_EQ(estimate.log_prob.item<double>(), -INFINITY);
  EXPECT_EQ(estimate.low.item<double>(), -INFINITY);
  EXPECT_GE(estimate.high.item<double>(), 0);
  EXPECT_EQ(estimate.effective.item<double>(), 0);
  EXPECT_EQ(estimate.lost.item<double>(), 1);
}

}  // namespace
}  // namespace anesi

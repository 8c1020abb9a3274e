#include "anesi/predict/count.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/beliefs.h"
#include "anesi/core/rows.h"
#include "anesi/exact/exact_model.h"
#include "anesi/models/mlp.h"
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
    const auto shares = (estimates.log_prob - truth_).exp();
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
  const auto off = (estimates.log_prob - truth_).square().mean().sqrt().item<double>();
  EXPECT_NEAR(estimates.error.square().mean().sqrt().item<double>() / off, 1, 0.2);
  EXPECT_TRUE((estimates.effective <= 400 + 1e-6).all().item<bool>());
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

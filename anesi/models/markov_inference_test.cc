#include "anesi/models/markov_inference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/soft_formulas.h"

namespace anesi {
namespace {

class MarkovInferenceTest : public ::testing::Test {
 protected:
  toys::RandomSeed seed_;
  std::mt19937_64 random_{seed_};
  std::shared_ptr<const MarkovInference> logic_ = toys::random_markov_logic(random_);
  at::Generator generator_ = seeded(seed_);
  torch::Tensor beliefs_ = toys::random_beliefs(5, logic_->worlds(), generator_);
  torch::Tensor weights_ = logic_->weights();
};

TEST_F(MarkovInferenceTest, GroupsAreVariables) {
  EXPECT_EQ(logic_->worlds().domains(), (std::vector<std::int64_t>{2, 2, 2, 3}));
}

TEST_F(MarkovInferenceTest, TheCircuitIsRightOnAllWorlds) {
  const toys::AllWeighted all(*logic_, beliefs_, weights_);
  const auto& circuit = logic_->exact();
  EXPECT_TRUE(torch::allclose(circuit.log_partition(beliefs_, weights_), all.log_partition, 1e-10, 1e-10));
  const auto expected = all.probability.mm(all.holds);
  EXPECT_TRUE(torch::allclose(circuit.expected(beliefs_, weights_), expected, 1e-9, 1e-9));
  const auto covariance = circuit.covariance(beliefs_, weights_);
  const auto marginals = circuit.marginals(beliefs_, weights_);
  const auto best = circuit.most_probable(beliefs_, weights_);
  for (std::int64_t row = 0; row < beliefs_.size(0); ++row) {
    const auto p = all.probability[row];
    const auto away = all.holds - expected[row];
    EXPECT_TRUE(torch::allclose(covariance[row], away.t().mm(p.unsqueeze(1) * away), 1e-9, 1e-9));
    for (std::int64_t variable = 0; variable < logic_->worlds().variables(); ++variable) {
      for (std::int64_t value = 0; value < logic_->worlds().domain(variable); ++value) {
        const auto share = p.masked_select(all.worlds.select(1, variable) == value).sum().item<double>();
        EXPECT_NEAR(marginals[row][variable][value].item<double>(), share, 1e-9);
      }
    }
    EXPECT_TRUE(torch::equal(best.worlds[row], all.worlds[p.argmax().item<std::int64_t>()]));
    EXPECT_NEAR(best.log_prob[row].item<double>(), p.max().log().item<double>(), 1e-9);
  }
}

TEST_F(MarkovInferenceTest, EachRowMayHaveItsOwnWeights) {
  const auto weights = torch::randn({beliefs_.size(0), logic_->clauses()}, generator_, torch::kFloat64);
  const auto together = logic_->exact().log_partition(beliefs_, weights);
  for (std::int64_t row = 0; row < beliefs_.size(0); ++row) {
    const auto alone = logic_->exact().log_partition(beliefs_.slice(0, row, row + 1), weights[row]);
    EXPECT_NEAR(together[row].item<double>(), alone.item<double>(), 1e-12);
  }
}

TEST_F(MarkovInferenceTest, GradientsAreThoseOfDifferences) {
  auto beliefs = beliefs_.clone().requires_grad_(true);
  auto weights = weights_.clone().requires_grad_(true);
  logic_->exact().log_partition(beliefs, weights).sum().backward();
  const torch::NoGradGuard no_gradients;
  constexpr double kStep = 1e-5;
  const auto total = [&](const torch::Tensor& some_beliefs, const torch::Tensor& some_weights) {
    return logic_->exact().log_partition(some_beliefs, some_weights).sum().item<double>();
  };
  for (std::int64_t clause = 0; clause < logic_->clauses(); ++clause) {
    auto step = torch::zeros_like(weights_);
    step[clause] = kStep;
    const auto slope = (total(beliefs_, weights_ + step) - total(beliefs_, weights_ - step)) / (2 * kStep);
    EXPECT_NEAR(weights.grad()[clause].item<double>(), slope, 1e-6);
  }
  auto step = torch::zeros_like(beliefs_);
  step[2][3][1] = kStep;
  const auto slope = (total(beliefs_ + step, weights_) - total(beliefs_ - step, weights_)) / (2 * kStep);
  EXPECT_NEAR(beliefs.grad()[2][3][1].item<double>(), slope, 1e-5);
}

TEST_F(MarkovInferenceTest, SamplesAreAsOftenAsTheyAreLikely) {
  constexpr std::int64_t kDraws = 20000;
  const auto belief = beliefs_.slice(0, 0, 1);
  const toys::AllWeighted all(*logic_, belief, weights_);
  const auto drawn = logic_->exact().sample(belief.expand({kDraws, -1, -1}), weights_, generator_);
  for (std::int64_t world = 0; world < all.worlds.size(0); ++world) {
    const auto share = (drawn == all.worlds[world]).all(1).to(torch::kFloat64).mean().item<double>();
    const auto p = all.probability[0][world].item<double>();
    EXPECT_NEAR(share, p, 6 * std::sqrt(p * (1 - p) / kDraws) + 1e-12);
  }
}

TEST_F(MarkovInferenceTest, ImpossibleBeliefsHaveNoPartition) {
  auto beliefs = beliefs_.clone();
  beliefs.select(1, 0).copy_(torch::tensor({1.0, 0.0, 0.0}, torch::kFloat64));  // not 1, not 2, but a: breaks a clause
  beliefs.select(1, 1).copy_(torch::tensor({1.0, 0.0, 0.0}, torch::kFloat64));
  beliefs.select(1, 3).copy_(torch::tensor({1.0, 0.0, 0.0}, torch::kFloat64));
  EXPECT_TRUE(logic_->exact().log_partition(beliefs, weights_).isneginf().all().item<bool>());
}

TEST_F(MarkovInferenceTest, LargeWeightsDoNotOverflow) {
  const auto weights = 4000 * weights_;
  const toys::AllWeighted all(*logic_, beliefs_, weights);
  EXPECT_TRUE(torch::allclose(logic_->exact().log_partition(beliefs_, weights), all.log_partition, 1e-9, 1e-6));
}

TEST(MarkovInference, AFormulaOfAnyKindIsWeightedByAVariable) {
  // 3 is defined as 1 <-> 2 and not shown; it alone has a weight.
  const MarkovInference logic(
      parse_wcnf("c p show 1 2 0\nh -3 -1 2 0\nh -3 1 -2 0\nh 3 1 2 0\nh 3 -1 -2 0\n1.2 3 0\n", "f"));
  ASSERT_EQ(logic.worlds().domains(), (std::vector<std::int64_t>{2, 2}));
  const auto worlds = points_of(logic.worlds());
  EXPECT_TRUE(torch::equal(logic.holds(worlds), torch::tensor({{1.0}, {0.0}, {0.0}, {1.0}}, torch::kFloat64)));
  const auto log_z = logic.exact().log_partition(uniform_beliefs(1, logic.worlds()), logic.weights()).item<double>();
  EXPECT_NEAR(log_z, std::log((2 * std::exp(1.2) + 2) / 4), 1e-6);
}

}  // namespace
}  // namespace anesi

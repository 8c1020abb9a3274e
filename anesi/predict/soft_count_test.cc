#include "anesi/predict/soft_count.h"

#include <gtest/gtest.h>

#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/soft_formulas.h"

namespace anesi {
namespace {

std::shared_ptr<GraphNetwork> soft_propagation(std::int64_t cases = 8) {
  return soft_network({.width = 0, .cases = cases});
}

TEST(SoftCount, BeliefPropagationIsExactOnTrees) {
  const toys::RandomSeed seed;
  const auto generator = seeded(seed);
  const MarkovInference logic(
      parse_wcnf("h 1 -2 0\n1.5 2 3 0\n-0.8 3 4 0\n0.6 -4 5 0\n-2 5 0\n0.9 5 6 -7 0\n3 1 -1 0\n", "f"));
  const auto weights = 2 * torch::randn({logic.clauses()}, generator, torch::kFloat64);
  const auto beliefs = toys::random_beliefs(4, logic.worlds(), generator);
  const toys::AllWeighted all(logic, beliefs, weights);
  const auto found = predicted_log_partition(logic, soft_propagation(1), beliefs, weights);
  EXPECT_TRUE(torch::allclose(found, all.log_partition, 0, 2e-3)) << found << all.log_partition;
  // So is its derivative by the weights, how likely each clause holds.
  auto variable = weights.clone().requires_grad_(true);
  predicted_log_partition(logic, soft_propagation(1), beliefs, variable).sum().backward();
  EXPECT_TRUE(torch::allclose(variable.grad(), all.probability.mm(all.holds).sum(0), 0, 2e-2));
}

TEST(SoftCount, SamplingIsRightWhateverTheNetworkSays) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  const SeededWeights seeded_weights(seed);
  const auto wild = soft_network();
  {
    const torch::NoGradGuard no_gradients;
    for (auto& parameter : wild->parameters()) parameter.copy_(0.2 * torch::randn(parameter.sizes(), generator));
  }
  std::int64_t covered = 0;
  constexpr std::int64_t kFormulas = 12;
  for (std::int64_t formula = 0; formula < kFormulas; ++formula) {
    const auto logic = toys::random_markov_logic(random);
    const auto weights = logic->weights();
    const auto beliefs = toys::random_beliefs(1, logic->worlds(), generator);
    const auto truth = toys::AllWeighted(*logic, beliefs, weights).log_partition.item<double>();
    const auto estimate = estimate_log_partition(*logic, wild, beliefs, weights, 20000, generator);
    EXPECT_EQ(estimate.lost.item<double>(), 0);
    EXPECT_NEAR(estimate.log_prob.item<double>(), truth, 8 * estimate.error.item<double>() + 1e-5);
    covered += estimate.low.item<double>() <= truth && truth <= estimate.high.item<double>() ? 1 : 0;
    const auto sharper = estimate_log_partition(*logic, soft_propagation(), beliefs, weights, 20000, generator);
    EXPECT_NEAR(sharper.log_prob.item<double>(), truth, 0.03);
  }
  EXPECT_GE(covered, kFormulas - 4);
}

TEST(SoftCount, NetworksForHardClausesRefuse) {
  const MarkovInference logic(parse_wcnf("1 1 2 0\n", "f"));
  const auto beliefs = uniform_beliefs(1, logic.worlds());
  const auto complaint = [&](const std::shared_ptr<GraphNetwork>& network, const torch::Tensor& weights) {
    return toys::message_of([&] { predicted_log_partition(logic, network, beliefs, weights); });
  };
  EXPECT_TRUE(toys::names(complaint(std::make_shared<GraphNetwork>(), logic.weights()), {"graph"}));
  EXPECT_TRUE(toys::names(complaint(soft_network(), torch::zeros({3})), {"graph", "3", "1"}));
}

}  // namespace
}  // namespace anesi

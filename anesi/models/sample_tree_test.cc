#include "anesi/models/sample_tree.h"

#include <gtest/gtest.h>

#include "anesi/models/mlp.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

TEST(SampleTree, HoldsAsManyDrawsAsWereAskedForAndEachWithItsProbability) {
  const toys::RandomSeed seed;
  torch::manual_seed(seed);
  const Space worlds{3, 2, 4, 2}, outputs{2};
  MlpOptions options;
  options.width = 8;
  Mlp model(worlds, outputs, /*explains=*/true, options);
  const auto beliefs = toys::random_beliefs(3, worlds, 1, seeded(seed)).to(torch::kFloat32);
  const auto asked = torch::tensor({0, 1, 1}, torch::kInt64).unsqueeze(1);
  constexpr std::int64_t kDraws = 5000;
  const auto tree = sample_tree(model, {beliefs, asked}, kDraws, seeded(seed));
  const auto& points = tree.points();
  const torch::NoGradGuard no_gradients;
  const auto log_prob =
      model.log_prob({beliefs.index_select(0, points.row), asked.index_select(0, points.row)}, points.values);
  EXPECT_TRUE(torch::allclose(tree.log_prob().to(torch::kFloat32), log_prob, 1e-4, 1e-4));
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto here = points.row == row;
    const auto draws = points.draws.index({here});
    EXPECT_EQ(draws.sum().item<std::int64_t>(), kDraws);
    const auto shares = draws.to(torch::kFloat32) / static_cast<double>(kDraws);
    EXPECT_LT((shares - log_prob.index({here}).exp()).abs().max().item<float>(), 0.04);
  }
  std::int64_t nodes_before = 3;
  for (const auto& level : tree.levels) {
    EXPECT_EQ(level.offered.size(0), nodes_before);
    EXPECT_EQ(level.draws.sum().item<std::int64_t>(), 3 * kDraws);
    nodes_before = level.parent.size(0);
  }
}

}  // namespace
}  // namespace anesi

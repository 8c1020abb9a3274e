#include "anesi/tensors/beliefs.h"

#include <gtest/gtest.h>

#include <limits>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

std::string message_of(const torch::Tensor& beliefs, const Space& space) {
  try {
    check_beliefs(beliefs, space);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Beliefs, CheckNamesTheBadRow) {
  const Space space{2, 3};
  const auto good = uniform_beliefs(4, space);
  EXPECT_EQ(message_of(good, space), "");

  auto bad = good.clone();
  bad[3][1][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(toys::names(message_of(bad, space), {"beliefs", "example 3", "variable 1"}));

  bad = good.clone();
  bad[2][0][2] = 0.5;
  EXPECT_TRUE(toys::names(message_of(bad, space), {"beliefs", "example 2", "variable 0", "2", "0.5"}));

  bad = good.clone();
  bad[1][1][1] = -0.25;
  EXPECT_TRUE(toys::names(message_of(bad, space), {"beliefs", "example 1", "variable 1", "1", "-0.25"}));

  bad = good.clone();
  bad[0][0][0] = 0.25;
  EXPECT_TRUE(toys::names(message_of(bad, space), {"beliefs", "example 0", "variable 0", "0.75", "1"}));

  EXPECT_TRUE(toys::names(message_of(good.slice(1, 0, 1), space), {"beliefs", "(4, 1, 3)", "(batch, 2, 3)"}));
}

TEST(Beliefs, SampledWorldsFollowTheBelief) {
  const Space space{2, 3};
  const auto belief = torch::tensor({0.25F, 0.75F, 0.0F, 0.5F, 0.0F, 0.5F}).view({1, 2, 3});
  const auto worlds = sample_worlds(belief.expand({20000, 2, 3}), seeded(7));
  const auto share = certain_beliefs(worlds, space).mean(0);
  EXPECT_TRUE(torch::allclose(share, belief[0], 0, 0.02)) << share;
  EXPECT_EQ(share[1][1].item<float>(), 0) << "an impossible value was drawn";
}

TEST(Beliefs, CertainBeliefsAreCertain) {
  const Space space{2, 3};
  const auto worlds = torch::tensor({0L, 2L, 1L, 0L}).view({2, 2});
  const auto beliefs = certain_beliefs(worlds, space);
  EXPECT_EQ(message_of(beliefs, space), "");
  EXPECT_TRUE(torch::equal(most_likely_worlds(beliefs), worlds));
  EXPECT_TRUE(torch::equal(world_log_prob(beliefs, worlds), torch::zeros({2})));
  EXPECT_TRUE(world_log_prob(beliefs, worlds.flip(0)).isneginf().all().item<bool>());
}

}  // namespace
}  // namespace anesi

#include "anesi/perception/ensemble.h"

#include <gtest/gtest.h>

#include "anesi/perception/lenet.h"

namespace anesi {
namespace {

TEST(Ensemble, IsTheMeanOfItsMembersBeliefs) {
  torch::manual_seed(2);
  const auto one = std::make_shared<LeNet>(4), other = std::make_shared<LeNet>(4);
  Ensemble both({one, other});
  const auto images = torch::randn({2, 3, 28, 28});
  const auto beliefs = both.forward(images);
  EXPECT_TRUE(torch::allclose(beliefs, (one->forward(images) + other->forward(images)) / 2));
  EXPECT_TRUE(torch::allclose(beliefs.sum(2), torch::ones({2, 3})));
  EXPECT_TRUE(both.separable());
  EXPECT_EQ(both.parameters().size(), 2 * one->parameters().size());
}

}  // namespace
}  // namespace anesi

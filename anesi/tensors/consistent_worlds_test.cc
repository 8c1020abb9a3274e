// The search asked with tensors: what it finds is tested in search/.
#include "anesi/tensors/consistent_worlds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

TEST(ConsistentWorlds, AreThoseOfTheSearch) {
  const toys::Addition addition(1);
  auto beliefs = torch::full({3, 2, 10}, 1e-4, torch::kFloat64);
  beliefs.select(2, 3).fill_(1 - 9e-4);
  beliefs[1].fill_(0).select(1, 3).fill_(1);
  const auto outputs = torch::tensor({{0, 7}, {0, 7}, {0, 6}}, torch::kInt64);
  const auto found = most_probable_worlds(addition, beliefs, outputs, {.nats = 10});
  EXPECT_TRUE(torch::equal(found.worlds[2], torch::tensor({3, 3}, torch::kInt64)));
  EXPECT_EQ(found.worlds[0].sum().item<std::int64_t>(), 7);
  EXPECT_TRUE((found.worlds[1] == kUnset).all().item<bool>()) << "a world of probability zero";
  EXPECT_NEAR(found.gap[0].item<double>(), std::log((1 - 9e-4) / 1e-4), 1e-9);
  EXPECT_TRUE(found.gap[1].isinf().item<bool>());
  EXPECT_EQ(found.gap[2].item<double>(), 0);
  EXPECT_TRUE(found.proven.all().item<bool>());
  EXPECT_TRUE((found.nodes == 0).all().item<bool>());
  EXPECT_EQ(found.proven.scalar_type(), torch::kBool);
  // Half as many bits do, and an output may be open.
  const auto open = torch::full({3, 2}, kUnset, torch::kInt64);
  const auto likely = most_probable_worlds(addition, beliefs.to(torch::kFloat32), open);
  EXPECT_TRUE(torch::equal(likely.worlds, most_likely_worlds(beliefs)));
}

TEST(ConsistentWorlds, RefuseWhatDoesNotFit) {
  const toys::Addition addition(1);
  const auto beliefs = uniform_beliefs(2, addition.worlds());
  const auto outputs = torch::tensor({{0, 7}, {1, 2}}, torch::kInt64);
  EXPECT_NO_THROW(most_probable_worlds(addition, beliefs, outputs));
  EXPECT_THROW(most_probable_worlds(addition, beliefs, outputs[0]), Error);
  EXPECT_THROW(most_probable_worlds(addition, beliefs, outputs.to(torch::kFloat32)), Error);
  EXPECT_THROW(most_probable_worlds(addition, beliefs, outputs.slice(0, 1)), Error);
  EXPECT_THROW(most_probable_worlds(addition, beliefs, outputs + 9), Error);
  EXPECT_THROW(most_probable_worlds(addition, beliefs.slice(1, 1), outputs), Error);
  EXPECT_EQ(most_probable_worlds(addition, beliefs.slice(0, 0, 0), outputs.slice(0, 0, 0)).worlds.size(0), 0);
}

}  // namespace
}  // namespace anesi

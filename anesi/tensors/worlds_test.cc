#include "anesi/tensors/worlds.h"

#include <gtest/gtest.h>

#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

TEST(WorldsOfBeliefs, AreDrawnAsOftenAsTheBeliefsSay) {
  const auto beliefs = torch::tensor({{{0.0, 1.0, 0.0}, {0.5, 0.5, 0.0}, {1.0, 0.0, 0.0}}}).requires_grad_();
  Random random(5);
  const auto drawn = tensor_of(worlds_of_beliefs(beliefs)(1000, random).rows());
  EXPECT_TRUE((drawn.select(1, 0) == 1).all().item<bool>());
  EXPECT_NEAR((drawn.select(1, 1) == 1).to(torch::kFloat64).mean().item<double>(), 0.5, 0.06);
  EXPECT_TRUE((drawn.select(1, 2) == 0).all().item<bool>());
}

}  // namespace
}  // namespace anesi

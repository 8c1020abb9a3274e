#include "anesi/optimize/adam.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(Adam, EqualsTheTextbook) {
  torch::manual_seed(2);
  auto ours = torch::randn({5, 3}).requires_grad_(true);
  auto theirs = ours.detach().clone().requires_grad_(true);
  Adam adam({ours}, {.weight_decay = 0.05});
  torch::optim::AdamW reference({theirs}, torch::optim::AdamWOptions(0.01).weight_decay(0.05));
  for (int step = 0; step < 5; ++step) {
    for (auto* parameter : {&ours, &theirs}) {
      parameter->mutable_grad().reset();
      (parameter->pow(4).sum() + parameter->sum()).backward();
    }
    adam.step(0.01);
    reference.step();
  }
  EXPECT_TRUE(torch::allclose(ours, theirs, 1e-5, 1e-6));
}

TEST(Adam, ContinuesFromItsStateBitForBit) {
  torch::manual_seed(2);
  auto straight = torch::randn({7}).requires_grad_(true);
  auto resumed = straight.detach().clone().requires_grad_(true);
  const auto train = [](Adam& adam, torch::Tensor& parameter, int steps) {
    for (int step = 0; step < steps; ++step) {
      adam.zero_gradients();
      parameter.pow(2).sum().backward();
      adam.step(0.1);
    }
  };
  Adam one({straight}), first({resumed});
  train(one, straight, 6);
  train(first, resumed, 3);
  Adam second({resumed});
  second.load_state(first.state());
  train(second, resumed, 3);
  EXPECT_TRUE(torch::equal(straight, resumed));
}

}  // namespace
}  // namespace anesi

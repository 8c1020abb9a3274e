#include "anesi/models/resnet.h"

#include <gtest/gtest.h>

#include "anesi/models/sample.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

class ResNetTest : public testing::Test {
 protected:
  ResNetTest() {
    torch::manual_seed(4);
    model = std::make_shared<ResNetWalk>(problem, ResNetOptions{.width = 4});
    model->eval();
    worlds = sample_worlds(uniform_beliefs(6, problem.worlds()), seeded(5));
    beliefs = certain_beliefs(worlds, problem.worlds());
  }

  toys::CheapestWalk problem{5};
  std::shared_ptr<ResNetWalk> model;
  torch::Tensor worlds, beliefs;
};

TEST_F(ResNetTest, AWalkHasTheProbabilityOfItsSteps) {
  const auto paths = apply(problem, worlds);
  const auto log_probs = model->log_prob(beliefs, paths);
  const auto rollout = model->begin(beliefs);
  auto total = torch::zeros({6});
  for (std::int64_t step = 0; step < paths.size(1); ++step) {
    const auto value = paths.select(1, step);
    const auto ended = rollout->ended();
    const auto chosen = rollout->next_log_probs().gather(1, value.clamp_min(0).unsqueeze(1)).squeeze(1);
    total = total + torch::where(ended, torch::zeros_like(chosen), chosen);
    EXPECT_TRUE(torch::equal(ended, value == kNone)) << "step " << step;
    rollout->advance(value);
  }
  EXPECT_LT((log_probs - total).abs().max().item<double>(), 1e-4);
}

TEST_F(ResNetTest, StepsOffTheGridHaveNoProbability) {
  const auto corner = model->directions(beliefs, torch::zeros({6}, torch::kInt64)).exp();
  EXPECT_NEAR(corner.sum().item<double>(), 6, 1e-4);
  for (const std::int64_t direction : {0, 1, 2, 3, 5}) {
    EXPECT_EQ(corner.select(1, direction).abs().sum().item<double>(), 0) << direction;
  }
}

}  // namespace
}  // namespace anesi

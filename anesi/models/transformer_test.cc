#include "anesi/models/transformer.h"

#include <gtest/gtest.h>

#include "anesi/models/beam.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// What holds for every architecture is tested in models_test.cc.

TransformerOptions small_transformer(bool positions) {
  TransformerOptions options;
  options.width = 16;
  options.heads = 2;
  options.positions = positions;
  return options;
}

TEST(Transformer, SeesASetWithoutPositionsAndASequenceWithThem) {
  const toys::RandomSeed seed;
  torch::manual_seed(seed);
  const torch::NoGradGuard no_gradients;
  const Space worlds = Space::uniform(5, 3), outputs{2, 4};
  const auto beliefs = toys::random_beliefs(2, worlds, 1, seeded(seed)).to(torch::kFloat32);
  const auto shuffled = beliefs.index_select(1, torch::tensor({3, 0, 4, 1, 2}, torch::kInt64));
  const auto values = torch::tensor({1, 2, 0, 3}, torch::kInt64).view({2, 2});
  for (const bool positions : {false, true}) {
    Transformer model(worlds, outputs, /*explains=*/false, small_transformer(positions));
    const auto same = torch::allclose(model.log_prob(beliefs, values), model.log_prob(shuffled, values), 1e-4, 1e-5);
    EXPECT_EQ(same, !positions);
  }
}

TEST(Transformer, ExplainsOutputsThatEndEarly) {
  torch::manual_seed(1);
  const torch::NoGradGuard no_gradients;
  const Space worlds = Space::uniform(3, 2), outputs{2, 4};
  Transformer model(worlds, outputs, /*explains=*/true, small_transformer(true));
  const auto shorter = torch::tensor({std::int64_t{1}, kNone}, torch::kInt64).view({1, 2});
  const auto beam = beam_search(model, {uniform_beliefs(1, worlds), shorter}, 8);
  EXPECT_NEAR(beam.log_prob.exp().sum().item<double>(), 1, 1e-5);
}

// Which of two variables is larger, from beliefs that are certain: a few hundred steps suffice.
TEST(Transformer, LearnsASmallFunction) {
  torch::manual_seed(2);
  const Space worlds{4, 4}, outputs{3};
  Transformer model(worlds, outputs, /*explains=*/false, small_transformer(true));
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(3e-3));
  const auto points = torch::cartesian_prod({torch::arange(4), torch::arange(4)});
  const auto beliefs = certain_beliefs(points, worlds);
  const auto values = ((points.select(1, 0) - points.select(1, 1)).sign() + 1).unsqueeze(1);
  torch::Tensor loss;
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    loss = -model.log_prob(beliefs, values).mean();
    loss.backward();
    optimizer.step();
  }
  EXPECT_LT(loss.item<double>(), 0.05);
}

TEST(Transformer, RefusesAWidthThatHeadsDoNotShareOut) {
  auto options = small_transformer(true);
  options.heads = 3;
  EXPECT_THROW(Transformer({2}, {2}, /*explains=*/false, options), UsageError);
}

}  // namespace
}  // namespace anesi

#include "anesi/losses/estimated.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/expected_distance.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

TEST(Estimated, IndecaterHasTheGradientOfTheExpectedDistanceInTheMean) {
  const toys::RandomSeed seed;
  const auto addition = std::make_shared<toys::Addition>(2, /*base=*/3);
  const auto logits = torch::randn({3, 4, 3}, seeded(seed)).requires_grad_();
  const auto wanted = apply(*addition, sample_worlds(logits.softmax(2).detach(), seeded(seed + 1)));
  const auto gradient_of = [&](const torch::Tensor& loss) { return torch::autograd::grad({loss}, {logits})[0]; };
  const auto exact = gradient_of(toys::expected_distance(*addition, logits.softmax(2), wanted));
  EstimatedLoss indecater(addition, "indecater", {.samples = 5000}, seeded(seed + 2));
  const auto loss = indecater.loss(logits.softmax(2), wanted);
  EXPECT_NEAR(loss.item<double>(), toys::expected_distance(*addition, logits.softmax(2), wanted).item<double>(), 0.02);
  EXPECT_LT((gradient_of(loss) - exact).abs().max().item<double>(), 0.01);
  EXPECT_GT(exact.abs().max().item<double>(), 0.01);
  // Straight-through is biased; it points the same way all the same.
  EstimatedLoss gumbel(addition, "gumbel", {.samples = 5000}, seeded(seed + 3));
  const auto biased = gradient_of(gumbel.loss(logits.softmax(2), wanted));
  EXPECT_GT(torch::cosine_similarity(biased.flatten(), exact.flatten(), 0).item<double>(), 0.7);
}

TEST(Estimated, RefusesLabelsThatAreNoGoal) {
  const auto addition = std::make_shared<toys::Addition>(1);
  EstimatedLoss loss(addition, "indecater", {}, seeded(3));
  const auto beliefs = uniform_beliefs(2, addition->worlds());
  const auto outputs = torch::tensor({{1, 3}, {0, 4}});
  EXPECT_THROW(loss.loss(beliefs, {outputs, torch::tensor({true, false})}), UsageError);
  Observations worlds_too(outputs);
  worlds_too.worlds = torch::tensor({{6, 7}, {2, 2}});
  EXPECT_THROW(loss.loss(beliefs, worlds_too), UsageError);
}

}  // namespace
}  // namespace anesi

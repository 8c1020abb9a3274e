#include "anesi/predict/decision.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(Decision, RecoversTheLogisticThatMadeTheLabels) {
  const auto generator = seeded(4);
  const auto scores = torch::randn({20000}, generator, torch::kFloat64) * 5 - 20;
  const auto holds = torch::rand({20000}, generator, torch::kFloat64) < ((scores + 18) * 0.7).sigmoid();
  Decision decision;
  decision.fit(scores, holds);
  EXPECT_NEAR(decision.slope, 0.7, 0.05);
  EXPECT_NEAR(-decision.offset / decision.slope, -18, 0.2);
  const auto share = decision.probability(scores).mean().item<double>();
  EXPECT_NEAR(share, holds.to(torch::kFloat64).mean().item<double>(), 1e-3);
}

TEST(Decision, StaysFiniteWhereScoresSeparateTheLabels) {
  Decision decision;
  decision.fit(torch::tensor({-40.0, -40.0, -35.0, -3.0, 0.0, 0.0}, torch::kFloat64),
               torch::tensor({false, false, false, true, true, true}));
  EXPECT_GT(decision.slope, 0);
  const auto sure = decision.probability(torch::tensor({-40.0, 0.0}, torch::kFloat64));
  EXPECT_LT(sure[0].item<double>(), 0.1);
  EXPECT_GT(sure[1].item<double>(), 0.9);
  const auto threshold = -decision.offset / decision.slope;
  EXPECT_GT(threshold, -35);
  EXPECT_LT(threshold, -3);
}

TEST(Decision, NeedsLabelsOfBothKinds) {
  Decision decision;
  EXPECT_THROW(decision.fit(torch::zeros({3}, torch::kFloat64), torch::ones({3}, torch::kBool)), Error);
}

}  // namespace
}  // namespace anesi

#include "anesi/priors/observed.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(ObservedBeliefs, SamplesWhatWasObservedLast) {
  ObservedBeliefs prior({2}, 3);
  for (const double p : {0.1, 0.2, 0.3, 0.4}) prior.observe(torch::tensor({{{p, 1 - p}}}));
  const auto first = prior.sample(3000, seeded(1)).select(1, 0).select(1, 0);  // [3000]
  for (const float p : {0.2F, 0.3F, 0.4F}) EXPECT_NEAR((first == p).sum().item<double>(), 1000, 150);
  EXPECT_TRUE(torch::equal(first, prior.sample(3000, seeded(1)).select(1, 0).select(1, 0)));
}

TEST(ObservedBeliefs, SaysThatNothingWasObserved) {
  ObservedBeliefs prior({2});
  EXPECT_THROW(prior.sample(1, seeded(1)), Error);
}

TEST(ObservedBeliefs, ContinuesFromItsState) {
  ObservedBeliefs prior({2}, 3), resumed({2}, 3);
  for (const double p : {0.1, 0.2, 0.3, 0.4}) prior.observe(torch::tensor({{{p, 1 - p}}}));
  resumed.load_state(prior.state());
  EXPECT_TRUE(torch::equal(prior.sample(50, seeded(2)), resumed.sample(50, seeded(2))));
}

}  // namespace
}  // namespace anesi

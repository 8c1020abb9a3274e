#include "anesi/priors/fixed_dirichlet.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(FixedDirichlet, SamplesEveryDomain) {
  FixedDirichlet prior({4, 2}, 0.2);
  const auto beliefs = prior.sample(20000, seeded(1));
  EXPECT_EQ(beliefs.sizes(), (std::vector<std::int64_t>{20000, 2, 4}));
  const auto expected = torch::tensor({0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.0, 0.0}).view({2, 4});
  EXPECT_TRUE(torch::allclose(beliefs.mean(0), expected.to(torch::kFloat), 0.0, 0.015));
  EXPECT_TRUE(prior.state().empty());
}

TEST(FixedDirichlet, RefusesAConcentrationThatIsNotPositive) {
  EXPECT_THROW(FixedDirichlet({2}, 0.0), UsageError);
  EXPECT_THROW(FixedDirichlet({2}, INFINITY), UsageError);
}

}  // namespace
}  // namespace anesi

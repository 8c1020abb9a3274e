#include "anesi/priors/dirichlet_sampler.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(SampleDirichlet, GeneratorDecidesTheNumbers) {
  const auto alpha = torch::full({4, 5}, 0.1);
  auto generator = seeded(8);
  const auto first = sample_dirichlet(alpha, 500, generator);
  const auto second = sample_dirichlet(alpha, 500, generator);
  EXPECT_FALSE(torch::equal(first, second));
  EXPECT_TRUE(torch::equal(first, sample_dirichlet(alpha, 500, seeded(8))));
  // A smaller sample is the beginning of a larger, on any number of threads.
  EXPECT_TRUE(torch::equal(first.slice(0, 0, 10), sample_dirichlet(alpha, 10, seeded(8))));
  EXPECT_EQ(sample_dirichlet(alpha, 0, seeded(8)).size(0), 0);
}

TEST(SampleDirichlet, LeavesPaddingZero) {
  const auto alpha = torch::tensor({0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.5, 0.0, 0.0}).view({3, 3});
  const auto beliefs = sample_dirichlet(alpha, 50, seeded(7));
  EXPECT_EQ((beliefs * (alpha == 0)).abs().max().item<double>(), 0.0);
  EXPECT_LT((beliefs.sum(-1) - 1).abs().max().item<double>(), 1e-6);
}

TEST(SampleDirichlet, RefusesWhatIsNoConcentration) {
  EXPECT_THROW(sample_dirichlet(torch::tensor({{0.5, -0.1}}), 1, seeded(9)), Error);
  EXPECT_THROW(sample_dirichlet(torch::tensor({0.5, 0.1}), 1, seeded(9)), Error);
  EXPECT_THROW(sample_dirichlet(torch::tensor({{0.5, 0.1}}), -1, seeded(9)), Error);
}

}  // namespace
}  // namespace anesi

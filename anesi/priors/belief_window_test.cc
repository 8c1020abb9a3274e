#include "anesi/priors/belief_window.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// [count, 1, 2] beliefs whose first value is number / 100, so that one can be told from another.
torch::Tensor numbered(std::int64_t first, std::int64_t count) {
  const auto numbers = torch::arange(first, first + count).to(torch::kFloat) / 100;
  return torch::stack({numbers, 1 - numbers}, -1).unsqueeze(1);
}

TEST(BeliefWindow, DropsTheOldest) {
  BeliefWindow window({2}, 5);
  EXPECT_EQ(window.push(numbered(0, 3)).size(0), 0);
  EXPECT_EQ(window.size(), 3);
  EXPECT_TRUE(torch::equal(window.push(numbered(3, 4)), numbered(0, 2)));
  EXPECT_EQ(window.size(), 5);
  EXPECT_TRUE(torch::equal(window.beliefs(), numbered(2, 5)));
  EXPECT_TRUE(torch::equal(window.push(numbered(7, 2)), numbered(2, 2)));
  EXPECT_TRUE(torch::equal(window.beliefs(torch::tensor({4, 0})), torch::cat({numbered(8, 1), numbered(4, 1)})));
}

TEST(BeliefWindow, TakesABatchLargerThanItself) {
  BeliefWindow window({2}, 3);
  window.push(numbered(0, 2));
  EXPECT_TRUE(torch::equal(window.push(numbered(2, 8)), numbered(0, 7)));
  EXPECT_TRUE(torch::equal(window.beliefs(), numbered(7, 3)));
}

TEST(BeliefWindow, KeepsNoGraphAndNoAlias) {
  BeliefWindow window({2}, 4);
  auto source = numbered(1, 2).requires_grad_();
  auto beliefs = source * 1.0;
  window.push(beliefs);
  EXPECT_FALSE(window.beliefs().requires_grad());
  EXPECT_EQ(beliefs.use_count(), 1U);
  {
    const torch::NoGradGuard no_grad;
    beliefs.zero_();
  }
  EXPECT_TRUE(torch::equal(window.beliefs(), numbered(1, 2)));
}

TEST(BeliefWindow, RefusesWhatIsNoBelief) {
  BeliefWindow window({2}, 4);
  EXPECT_THROW(window.push(torch::full({1, 1, 2}, NAN)), Error);
  EXPECT_THROW(window.push(torch::full({1, 1, 2}, -0.5)), Error);
  EXPECT_THROW(window.push(torch::full({1, 2, 2}, 0.5)), Error);
  EXPECT_EQ(window.size(), 0);
  EXPECT_THROW(BeliefWindow({2}, 0), UsageError);
}

TEST(BeliefWindow, RestoresItsState) {
  BeliefWindow window({2}, 5), other({2}, 5), smaller({2}, 4);
  window.push(numbered(0, 7));
  other.push(numbered(50, 3));
  other.load_state(window.state());
  EXPECT_TRUE(torch::equal(other.beliefs(), numbered(2, 5)));
  EXPECT_TRUE(torch::equal(other.push(numbered(7, 1)), numbered(2, 1)));
  EXPECT_THROW(smaller.load_state(window.state()), Error);
  EXPECT_THROW(other.load_state({}), Error);
}

}  // namespace
}  // namespace anesi

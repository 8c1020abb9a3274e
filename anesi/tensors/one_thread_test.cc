#include "anesi/tensors/one_thread.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "anesi/testing/threads.h"

namespace anesi {
namespace {

// torch shares out to as many threads as it says that there are, for the thread that asks.
TEST(OneThread, SharesOutNothingWhileItLives) {
  const toys::Threads two(2);
  ASSERT_EQ(torch::get_num_threads(), 2);
  {
    const OneThread alone(true);
    EXPECT_EQ(torch::get_num_threads(), 1);
    {
      const OneThread again(true);
      EXPECT_EQ(torch::get_num_threads(), 1);
    }
    EXPECT_EQ(torch::get_num_threads(), 1);
  }
  EXPECT_EQ(torch::get_num_threads(), 2);
  const OneThread large(false);
  EXPECT_EQ(torch::get_num_threads(), 2);
}

}  // namespace
}  // namespace anesi

#include "anesi/perception/pooled_relu.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

// Values in tenths, so that squares have ties, below and above 0, and at it.
torch::Tensor images_with_ties(torch::IntArrayRef shape) {
  torch::manual_seed(8);
  return (torch::randn(shape) * 10).round() / 10;
}

void expect_same(const torch::Tensor& images) {
  const auto mine = images.detach().requires_grad_(), theirs = images.detach().clone().requires_grad_();
  const auto pooled = pooled_relu(mine), expected = torch::max_pool2d(theirs, 2).relu();
  EXPECT_TRUE(torch::equal(pooled, expected));
  const auto weights = torch::randn(expected.sizes());
  (pooled * weights).sum().backward();
  (expected * weights).sum().backward();
  EXPECT_TRUE(torch::equal(mine.grad(), theirs.grad()));
}

TEST(PooledRelu, IsTorchsPoolingAndRectifierToTheLastBit) {
  expect_same(images_with_ties({7, 6, 24, 24}));
  expect_same(images_with_ties({3, 1, 2, 2}));
  expect_same(images_with_ties({2, 3, 10, 38}));
}

TEST(PooledRelu, TakesOtherLayoutsAndSizes) {
  expect_same(images_with_ties({5, 16, 8, 8}).contiguous(torch::MemoryFormat::ChannelsLast));
  expect_same(images_with_ties({5, 4, 7, 9}));
  expect_same(images_with_ties({0, 4, 8, 8}));
}

TEST(PooledRelu, KeepsWhatIsNotANumber) {
  EXPECT_TRUE(pooled_relu(torch::full({1, 1, 4, 4}, NAN)).isnan().all().item<bool>());
  // Wherever it is in its square, and whatever is around it.
  for (const double others : {-1.0, 0.0, 2.0}) {
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t column = 0; column < 2; ++column) {
        auto images = torch::full({1, 1, 2, 40}, others);
        images.slice(3, column, 40, 2).select(2, row).fill_(NAN);
        EXPECT_TRUE(pooled_relu(images).isnan().all().item<bool>()) << others << " at " << row << ", " << column;
      }
    }
  }
}

}  // namespace
}  // namespace anesi

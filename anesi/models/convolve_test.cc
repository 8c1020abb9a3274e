#include "anesi/models/convolve.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

torch::nn::Conv2d make(std::int64_t size, std::int64_t stride) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 5, size).stride(stride).padding(size / 2).bias(false));
}

// The same result and gradients as libtorch's, for images of few pixels and of many.
TEST(Convolve, IsLibtorchs) {
  torch::manual_seed(3);
  for (const std::int64_t size : {1, 3, 7}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      auto convolution = make(size, stride);
      for (const auto& [height, width] :
           std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 3}, {2, 4}, {1, 7}, {5, 6}}) {
        const auto images = torch::randn({4, 3, height, width}).requires_grad_();
        const auto expected = convolution(images), found = convolve(convolution, images);
        ASSERT_EQ(found.sizes(), expected.sizes());
        const auto inputs = std::vector<torch::Tensor>{images, convolution->weight};
        const auto weights = torch::randn_like(expected);
        const auto right = torch::autograd::grad({expected}, inputs, {weights});
        const auto ours = torch::autograd::grad({found}, inputs, {weights});
        const auto where = testing::Message() << height << "x" << width << ", size " << size << ", stride " << stride;
        EXPECT_TRUE(torch::allclose(found, expected, 1e-4, 1e-5)) << where;
        EXPECT_TRUE(torch::allclose(ours[0], right[0], 1e-4, 1e-5)) << where;
        EXPECT_TRUE(torch::allclose(ours[1], right[1], 1e-4, 1e-5)) << where;
      }
    }
  }
}

TEST(Convolve, RefusesOtherKinds) {
  torch::nn::Conv2d biased(torch::nn::Conv2dOptions(3, 5, 3).padding(1)),
      bare(torch::nn::Conv2dOptions(3, 5, 3).bias(false));
  const auto images = torch::zeros({1, 3, 2, 2});
  EXPECT_THROW(convolve(biased, images), std::invalid_argument);
  EXPECT_THROW(convolve(bare, images), std::invalid_argument);
}

}  // namespace
}  // namespace anesi

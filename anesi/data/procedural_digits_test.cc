#include "anesi/data/procedural_digits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace anesi {
namespace {

// The share of test images whose nearest class mean, of the training images, is that of their label.
double accuracy_of_nearest_mean(const ProceduralDigits& train, const ProceduralDigits& test) {
  const torch::Tensor pixels = train.images.flatten(1).to(torch::kFloat32);
  std::vector<torch::Tensor> means;
  for (int digit = 0; digit < 10; ++digit) means.push_back(pixels.index({train.labels == digit}).mean(0));
  const torch::Tensor distances = torch::cdist(test.images.flatten(1).to(torch::kFloat32), torch::stack(means));
  return (distances.argmin(1) == test.labels).to(torch::kFloat64).mean().item<double>();
}

TEST(ProceduralDigits, AreTheSameForTheSameSeed) {
  const ProceduralDigits digits = render_digits(1000, 5);
  const ProceduralDigits fewer = render_digits(300, 5);
  EXPECT_TRUE(torch::equal(digits.images.slice(0, 0, 300), fewer.images));
  EXPECT_TRUE(torch::equal(digits.labels.slice(0, 0, 300), fewer.labels));
  EXPECT_FALSE(torch::equal(render_digits(300, 6).images, fewer.images));
}

TEST(ProceduralDigits, HaveTheShapeAndLookOfMnist) {
  const ProceduralDigits digits = render_digits(2000, 1);
  EXPECT_EQ(digits.images.sizes(), (torch::IntArrayRef{2000, 28, 28}));
  EXPECT_EQ(digits.images.scalar_type(), torch::kUInt8);
  EXPECT_EQ(digits.labels.scalar_type(), torch::kUInt8);
  const torch::Tensor counts = torch::bincount(digits.labels, {}, 10);
  EXPECT_EQ(counts.size(0), 10);
  EXPECT_GT(counts.min().item<std::int64_t>(), 140);

  // Mostly black, some white, and ink seldom at the border. MNIST has a mean of 33 and a deviation of 79.
  const torch::Tensor pixels = digits.images.to(torch::kFloat32);
  EXPECT_NEAR(pixels.mean().item<double>(), 33, 8);
  EXPECT_NEAR(pixels.std().item<double>(), 79, 10);
  EXPECT_LT(pixels.index({torch::indexing::Slice(), 0}).mean().item<double>(), 0.5);
  EXPECT_GT(pixels.flatten(1).amax(1).min().item<double>(), 100);
}

// Distinct enough to be learnt, varied enough that a template is not all there is to learn.
TEST(ProceduralDigits, AreDistinctButVaried) {
  const double accuracy = accuracy_of_nearest_mean(render_digits(4000, 1), render_digits(1000, 2));
  EXPECT_GT(accuracy, 0.6);
  EXPECT_LT(accuracy, 0.98);
}

TEST(ProceduralDigits, CanBeNone) { EXPECT_EQ(render_digits(0, 1).images.size(0), 0); }

}  // namespace
}  // namespace anesi

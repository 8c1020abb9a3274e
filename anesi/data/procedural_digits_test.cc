#include "anesi/data/procedural_digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace anesi {
namespace {

constexpr std::size_t kPixels = 28 * 28;

std::span<const std::uint8_t> image_of(const DigitImages& digits, std::size_t image) {
  return digits.images.values<std::uint8_t>().subspan(image * kPixels, kPixels);
}

// The share of test images whose nearest class mean, of the training images, is that of their label.
double accuracy_of_nearest_mean(const DigitImages& train, const DigitImages& test) {
  std::array<std::array<double, kPixels>, 10> means{};
  std::array<double, 10> counts{};
  for (std::size_t image = 0; image < train.labels.size(); ++image) {
    const auto label = static_cast<std::size_t>(train.labels[image]);
    ++counts[label];
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel) means[label][pixel] += image_of(train, image)[pixel];
  }
  double right = 0;
  for (std::size_t image = 0; image < test.labels.size(); ++image) {
    const auto pixels = image_of(test, image);
    double least = std::numeric_limits<double>::infinity();
    std::int64_t nearest = -1;
    for (std::size_t digit = 0; digit < 10; ++digit) {
      double distance = 0;
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        const double away = pixels[pixel] - means[digit][pixel] / counts[digit];
        distance += away * away;
      }
      if (distance >= least) continue;
      least = distance;
      nearest = static_cast<std::int64_t>(digit);
    }
    if (nearest == test.labels[image]) ++right;
  }
  return right / static_cast<double>(test.labels.size());
}

TEST(ProceduralDigits, AreTheSameForTheSameSeed) {
  const auto digits = render_digits(1000, 5), fewer = render_digits(300, 5);
  EXPECT_TRUE(std::ranges::equal(digits.images.values<std::uint8_t>().first(300 * kPixels),
                                 fewer.images.values<std::uint8_t>()));
  EXPECT_TRUE(std::equal(fewer.labels.begin(), fewer.labels.end(), digits.labels.begin()));
  EXPECT_NE(render_digits(300, 6).images, fewer.images);
}

TEST(ProceduralDigits, HaveTheShapeAndLookOfMnist) {
  const auto digits = render_digits(2000, 1);
  EXPECT_EQ(digits.images.shape(), (std::vector<std::int64_t>{2000, 28, 28}));
  for (std::int64_t digit = 0; digit < 10; ++digit) EXPECT_GT(std::ranges::count(digits.labels, digit), 140);

  // Mostly black, some white, and ink seldom at the border. MNIST has a mean of 33 and a deviation of 79.
  const auto pixels = digits.images.values<std::uint8_t>();
  double sum = 0, squares = 0, border = 0;
  for (std::size_t place = 0; place < pixels.size(); ++place) {
    sum += pixels[place];
    squares += pixels[place] * pixels[place];
    if (place % kPixels < 28) border += pixels[place];
  }
  const auto count = static_cast<double>(pixels.size()), mean = sum / count;
  EXPECT_NEAR(mean, 33, 8);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 79, 10);
  EXPECT_LT(border / (count / 28), 0.5);
  for (std::size_t image = 0; image < 2000; ++image) EXPECT_GT(std::ranges::max(image_of(digits, image)), 100);
}

// Distinct enough to be learnt, varied enough that a template is not all there is to learn.
TEST(ProceduralDigits, AreDistinctButVaried) {
  const double accuracy = accuracy_of_nearest_mean(render_digits(4000, 1), render_digits(1000, 2));
  EXPECT_GT(accuracy, 0.6);
  EXPECT_LT(accuracy, 0.98);
}

TEST(ProceduralDigits, CanBeNone) { EXPECT_EQ(render_digits(0, 1).images.shape()[0], 0); }

}  // namespace
}  // namespace anesi

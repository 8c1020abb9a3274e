#include "anesi/kernels/pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "anesi/core/random.h"

namespace anesi {
namespace {

// Values in tenths, so that squares have ties, below and above 0, and at it.
std::vector<float> pixels_with_ties(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> pixels(count);
  for (auto& pixel : pixels) pixel = static_cast<float>(std::round(random.normal() * 10)) / 10;
  return pixels;
}

TEST(Pooling, IsTheLargestOfEachSquareAndItsGradientThatOfTheFirst) {
  for (const std::size_t width : {1, 5, 12, 40}) {
    const std::size_t rows = 7;
    const auto pixels = pixels_with_ties(4 * rows * width, width);
    const auto gradient = pixels_with_ties(rows * width, width + 1);
    std::vector<float> pooled(rows * width), result(pixels.size(), 9.0F);
    pool_and_rectify(pixels, static_cast<std::int64_t>(width), pooled);
    gradient_of_pooling(pixels, pooled, gradient, static_cast<std::int64_t>(width), result);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t at = 0; at < width; ++at) {
        const auto top = 4 * width * row + 2 * at, square = width * row + at;
        const std::array<std::size_t, 4> places{top, top + 1, top + 2 * width, top + 2 * width + 1};
        const auto best = *std::ranges::max_element(places, {}, [&](auto place) { return pixels[place]; });
        EXPECT_EQ(pooled[square], std::max(0.0F, pixels[best]));
        for (const auto place : places) {
          EXPECT_EQ(result[place], place == best && pixels[best] > 0 ? gradient[square] : 0);
        }
      }
    }
  }
}

TEST(Pooling, KeepsWhatIsNotANumber) {
  // Wherever it is in its square, and whatever is around it.
  for (const float others : {-1.0F, 0.0F, 2.0F}) {
    for (std::size_t place = 0; place < 4; ++place) {
      std::vector<float> pixels(4 * 20, others), pooled(20);
      for (std::size_t at = 0; at < 20; ++at) pixels[place / 2 * 40 + 2 * at + place % 2] = std::nanf("");
      pool_and_rectify(pixels, 20, pooled);
      EXPECT_TRUE(std::ranges::all_of(pooled, [](float value) { return std::isnan(value); })) << others << place;
    }
  }
}

TEST(Pooling, TakesNothing) {
  pool_and_rectify({}, 0, {});
  gradient_of_pooling({}, {}, {}, 4, {});
}

}  // namespace
}  // namespace anesi

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
  for (const std::size_t channels : {1, 3, 6, 20}) {
    for (const std::size_t width : {1, 5, 12, 40}) {
      const std::size_t rows = 7, row_size = width * channels;
      const auto pixels = pixels_with_ties(4 * rows * row_size, width);
      const auto gradient = pixels_with_ties(rows * row_size, width + 1);
      std::vector<float> pooled(rows * row_size), result(pixels.size(), 9.0F);
      const auto w = static_cast<std::int64_t>(width), c = static_cast<std::int64_t>(channels);
      pool_and_rectify(pixels, w, c, pooled);
      gradient_of_pooling(pixels, pooled, gradient, w, c, result);
      for (std::size_t square = 0; square < pooled.size(); ++square) {
        const auto row = square / row_size, at = square % row_size / channels, channel = square % channels;
        const auto top = 4 * row * row_size + 2 * at * channels + channel, bottom = top + 2 * row_size;
        const std::array<std::size_t, 4> places{top, top + channels, bottom, bottom + channels};
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
      pool_and_rectify(pixels, 20, 1, pooled);
      EXPECT_TRUE(std::ranges::all_of(pooled, [](float value) { return std::isnan(value); })) << others << place;
    }
  }
}

TEST(Pooling, TakesNothing) {
  pool_and_rectify({}, 0, 1, {});
  gradient_of_pooling({}, {}, {}, 4, 6, {});
}

}  // namespace
}  // namespace anesi

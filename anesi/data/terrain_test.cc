#include "anesi/data/terrain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace anesi {
namespace {

struct Moments {
  double mean, deviation;
};
Moments moments_of(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, std::sqrt(squares / (count - 1))};
}

Array rows(const Array& array, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(end - begin));
  std::iota(chosen.begin(), chosen.end(), begin);
  return rows_of(array, chosen);
}

TEST(Terrain, TakesThePublishedShares) {
  const auto terrain = grow_terrain(3000, 12, 1);
  const std::array<double, kTerrains> published{.27, .41, .09, .09, .14};
  for (std::uint8_t kind = 0; kind < kTerrains; ++kind) {
    std::vector<double> shares;
    for (std::size_t map = 0; map < 3000; ++map) {
      const auto cells = terrain.values<std::uint8_t>().subspan(map * 144, 144);
      shares.push_back(static_cast<double>(std::ranges::count(cells, kind)) / 144);
    }
    const auto [mean, deviation] = moments_of(shares);
    EXPECT_NEAR(mean, published[kind], 0.015) << int{kind};
    EXPECT_GT(deviation, 0.09) << int{kind};  // maps differ widely
  }
}

TEST(Terrain, GrowsInBlobs) {
  const auto terrain = grow_terrain(500, 30, 2);
  const auto cells = terrain.values<std::uint8_t>();
  double same = 0, pairs = 0;
  for (std::size_t cell = 1; cell < cells.size(); ++cell) {
    if (cell % 30 == 0) continue;
    ++pairs;
    if (cells[cell] == cells[cell - 1]) ++same;
  }
  EXPECT_GT(same / pairs, 0.7);  // 0.28 if cells were independent
  EXPECT_LT(same / pairs, 0.95);
}

TEST(Terrain, IsDecidedByItsSeed) {
  const auto few = grow_terrain(20, 12, 3), many = grow_terrain(200, 12, 3);
  EXPECT_EQ(few, rows(many, 0, 20));
  EXPECT_NE(few, grow_terrain(20, 12, 4));
  EXPECT_EQ(paint_terrain(few, 3), rows(paint_terrain(many, 3), 0, 20));
  EXPECT_EQ(paint_terrain(rows(many, 5, 9), 3, 5), rows(paint_terrain(many, 3), 5, 9));
  EXPECT_NE(paint_terrain(few, 3), paint_terrain(few, 4));
}

TEST(Terrain, ShowsItsColourWithinAndItsNeighboursAtTheBorder) {
  // Grass on the left, water on the right; the border is between columns 2 and 3.
  Array terrain(NumberType::kUInt8, {1, 6, 6});
  for (std::size_t cell = 0; cell < 36; ++cell) terrain.values<std::uint8_t>()[cell] = cell % 6 < 3 ? 0 : 3;
  const auto picture = paint_terrain(terrain, 5);
  std::vector<double> turns;  // where each row of pixels turns to water: not a straight line
  for (std::size_t row = 0; row < 48; ++row) {
    double blue = 0;
    for (std::size_t column = 0; column < 48; ++column) {
      const auto pixel = picture.values<std::uint8_t>().subspan((row * 48 + column) * 3, 3);
      const bool is_blue = pixel[2] > pixel[1];
      if (column < 16 || column >= 32) {
        EXPECT_EQ(is_blue, column >= 32);
      }
      if (is_blue) ++blue;
    }
    turns.push_back(blue);
  }
  const auto [mean, deviation] = moments_of(turns);
  EXPECT_GT(deviation, 0.3);
  EXPECT_NEAR(mean, 24, 3);
}

}  // namespace
}  // namespace anesi

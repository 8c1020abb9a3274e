#include "anesi/tasks/warcraft/terrain.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(Terrain, TakesThePublishedShares) {
  const auto terrain = grow_terrain(3000, 12, 1);
  const std::array<double, kTerrains> published{.27, .41, .09, .09, .14};
  for (std::int64_t kind = 0; kind < kTerrains; ++kind) {
    const auto shares = (terrain == kind).flatten(1).to(torch::kFloat64).mean(1);
    EXPECT_NEAR(shares.mean().item<double>(), published[static_cast<std::size_t>(kind)], 0.015) << kind;
    EXPECT_GT(shares.std().item<double>(), 0.09) << kind;  // maps differ widely
  }
}

TEST(Terrain, GrowsInBlobs) {
  const auto terrain = grow_terrain(500, 30, 2);
  const auto same = (terrain.slice(2, 1) == terrain.slice(2, 0, 29)).to(torch::kFloat64).mean().item<double>();
  EXPECT_GT(same, 0.7);  // 0.28 if cells were independent
  EXPECT_LT(same, 0.95);
}

TEST(Terrain, IsDecidedByItsSeed) {
  const auto few = grow_terrain(20, 12, 3), many = grow_terrain(200, 12, 3);
  EXPECT_TRUE(torch::equal(few, many.slice(0, 0, 20)));
  EXPECT_FALSE(torch::equal(few, grow_terrain(20, 12, 4)));
  EXPECT_TRUE(torch::equal(paint_terrain(few, 3), paint_terrain(many, 3).slice(0, 0, 20)));
  EXPECT_TRUE(torch::equal(paint_terrain(many.slice(0, 5, 9), 3, 5), paint_terrain(many, 3).slice(0, 5, 9)));
  EXPECT_FALSE(torch::equal(paint_terrain(few, 3), paint_terrain(few, 4)));
}

TEST(Terrain, ShowsItsColourWithinAndItsNeighboursAtTheBorder) {
  // Grass on the left, water on the right; the border is between columns 2 and 3.
  auto terrain = torch::zeros({1, 6, 6}, torch::kUInt8);
  terrain.slice(2, 3) = 3;
  const auto picture = paint_terrain(terrain, 5).to(torch::kFloat32)[0];
  const auto blue = (picture.select(2, 2) > picture.select(2, 1)).to(torch::kFloat32);  // [48, 48]
  EXPECT_EQ(blue.slice(1, 0, 16).sum().item<double>(), 0);
  EXPECT_EQ(blue.slice(1, 32).mean().item<double>(), 1);
  const auto rows = blue.sum(1);  // where each row of pixels turns to water: not a straight line
  EXPECT_GT(rows.std().item<double>(), 0.3);
  EXPECT_NEAR(rows.mean().item<double>(), 24, 3);
}

}  // namespace
}  // namespace anesi

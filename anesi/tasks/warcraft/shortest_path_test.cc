#include "anesi/builtin/shortest_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "anesi/testing/random.h"

namespace anesi {
namespace {

constexpr std::array<std::uint8_t, 5> kCosts{8, 12, 53, 77, 92};

// Cost of the best path by trying every step from every cell until nothing changes.
std::vector<std::int32_t> by_relaxation(const GridWalk& grid, const std::vector<std::uint8_t>& costs) {
  std::vector<std::int32_t> best(costs.size(), std::numeric_limits<std::int32_t>::max() / 2);
  best[static_cast<std::size_t>(grid.goal)] = costs[static_cast<std::size_t>(grid.goal)];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
      for (std::int64_t direction = 0; direction < kDirections; ++direction) {
        const auto next = grid.step(cell, direction);
        if (next == kNone) continue;
        const auto cost = best[static_cast<std::size_t>(next)] + costs[static_cast<std::size_t>(cell)];
        if (cost >= best[static_cast<std::size_t>(cell)]) continue;
        best[static_cast<std::size_t>(cell)] = cost;
        changed = true;
      }
    }
  }
  return best;
}

class ShortestPathsOfSide : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Sides, ShortestPathsOfSide, testing::Values(1, 2, 3, 5, 12));

TEST_P(ShortestPathsOfSide, AreShortestAndTakeTheFirstOfEqualDirections) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  ShortestPaths paths(GetParam());
  for (int round = 0; round < 50; ++round) {
    GridWalk grid{.side = GetParam()};
    grid.goal =
        round % 2 == 0 ? grid.cells() - 1 : std::uniform_int_distribution<std::int64_t>(0, grid.cells() - 1)(random);
    std::vector<std::uint8_t> costs(static_cast<std::size_t>(grid.cells()));
    for (auto& cost : costs) cost = kCosts[std::uniform_int_distribution<std::size_t>(0, 4)(random)];
    paths.solve(costs, grid.goal);
    const auto expected = by_relaxation(grid, costs);
    for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
      ASSERT_EQ(paths.cost(cell), expected[static_cast<std::size_t>(cell)]);
      if (cell == grid.goal) {
        ASSERT_EQ(paths.direction(cell), kNone);
        continue;
      }
      const auto taken = paths.direction(cell), next = grid.step(cell, taken);
      ASSERT_NE(next, kNone);
      for (std::int64_t direction = 0; direction < kDirections; ++direction) {
        const auto other = grid.step(cell, direction);
        if (other == kNone) continue;
        const auto better = paths.cost(other) - paths.cost(next);
        ASSERT_TRUE(direction < taken ? better > 0 : better >= 0);
      }
    }
  }
}

TEST(ShortestPaths, GoAroundWhatIsDear) {
  ShortestPaths paths(3);
  const std::vector<std::uint8_t> costs{8,  92, 92,  //
                                        8,  92, 8,   //
                                        92, 8,  8};
  paths.solve(costs, 8);
  EXPECT_EQ(paths.cost(0), 32);
  EXPECT_EQ(paths.direction(0), 6);  // down
  EXPECT_EQ(paths.direction(3), 7);  // down and right
  EXPECT_EQ(paths.direction(7), 4);  // right
}

}  // namespace
}  // namespace anesi

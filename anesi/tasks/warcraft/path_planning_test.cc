#include "anesi/tasks/warcraft/path_planning.h"

#include <gtest/gtest.h>

#include "anesi/core/seeded.h"
#include "anesi/tasks/warcraft/shortest_path.h"
#include "anesi/tasks/warcraft/terrain.h"

namespace anesi {
namespace {

Values row_of(const torch::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<std::int64_t>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

TEST(PathPlanning, GivesAPathOfTheLeastCost) {
  const PathPlanning problem(7);
  const auto worlds = torch::randint(0, kTerrains, {300, 49}, seeded(1), torch::kInt64);
  const auto outputs = problem.apply_batch(worlds);
  ShortestPaths paths(7);
  for (std::int64_t row = 0; row < 300; ++row) {
    const auto world = row_of(worlds, row), output = row_of(outputs, row);
    ASSERT_TRUE(problem.outputs().contains(output));
    std::vector<std::uint8_t> costs;
    for (const auto terrain : world) costs.push_back(kTerrainCosts[static_cast<std::size_t>(terrain)]);
    paths.solve(costs, 48);
    EXPECT_EQ(problem.cost(world, output), paths.cost(0));
    EXPECT_TRUE(std::ranges::equal(output, apply_checked(problem, world)));
  }
}

TEST(PathPlanning, HasRoomForTheLongestPath) {
  // A snake of grass between walls of rock, which turns at every second row.
  constexpr std::int64_t kSide = 9;
  const PathPlanning problem(kSide);
  std::vector<std::int64_t> world(kSide * kSide, 0);
  for (std::int64_t row = 1; row < kSide; row += 2) {
    for (std::int64_t column = 0; column < kSide; ++column) {
      const bool gap = column == (row % 4 == 1 ? kSide - 1 : 0);
      world[static_cast<std::size_t>(row * kSide + column)] = gap ? 0 : 4;
    }
  }
  const auto output = apply_checked(problem, world);
  EXPECT_NE(problem.cost(world, output), kNone);
  for (const std::int64_t side : {1, 2, 12, 30}) EXPECT_GE(PathPlanning(side).outputs().variables(), side - 1);
}

TEST(PathPlanning, TellsWhatIsNoPath) {
  const PathPlanning problem(3);
  const std::vector<std::int64_t> world(9, 1);
  EXPECT_EQ(problem.cost(world, std::vector<std::int64_t>{7, 7, kNone}), 36);
  EXPECT_EQ(problem.cost(world, std::vector<std::int64_t>{7, kNone, kNone}), kNone);
  EXPECT_EQ(problem.cost(world, std::vector<std::int64_t>{0, 7, 7}), kNone);
}

}  // namespace
}  // namespace anesi

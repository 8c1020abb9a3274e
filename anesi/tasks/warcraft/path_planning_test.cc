#include "anesi/builtin/path_planning.h"

#include <gtest/gtest.h>

#include "anesi/builtin/shortest_path.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/score.h"
#include "anesi/core/trace.h"
#include "anesi/data/terrain.h"
#include "anesi/discover/problem_check.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(PathPlanning, GivesAPathOfTheLeastCost) {
  const PathPlanning problem(7);
  const auto worlds = torch::randint(0, kTerrains, {300, 49}, seeded(1), torch::kInt64);
  const auto outputs = apply(problem, worlds);
  ShortestPaths paths(7);
  for (std::int64_t row = 0; row < 300; ++row) {
    const auto world = row_of(worlds, row), output = row_of(outputs, row);
    ASSERT_TRUE(problem.outputs().contains(output));
    std::vector<std::uint8_t> costs;
    for (const auto terrain : world) costs.push_back(kTerrainCosts[static_cast<std::size_t>(terrain)]);
    paths.solve(costs, 48);
    EXPECT_EQ(problem.cost(world, output), paths.cost(0));
    EXPECT_TRUE(std::ranges::equal(output, apply_to(problem, world)));
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
  const auto output = apply_to(problem, world);
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

// Whatever it tells of itself is true of it; its pruner may allow more, and says so.
TEST(PathPlanning, PassesTheDoctor) {
  for (const auto ends : {PathEnds::kCorners, PathEnds::kAny}) {
    for (const auto& finding : check_problem(PathPlanning(4, ends))) {
      EXPECT_TRUE(finding.good) << finding.name << ": " << finding.words;
    }
  }
}

TEST(PathPlanning, ScoresPathsByWhatTheyCostMoreAndByTheCellsTheyDoNotShare) {
  const PathPlanning problem(3);
  const auto worlds = torch::ones({3, 9}, torch::kInt64);
  // Straight along the diagonal; around the corner, which costs a cell more; and no path at all.
  const auto paths = torch::tensor({{7L, 7L, kNone}, {4L, 7L, 6L}, {7L, kNone, kNone}});
  auto outputs = torch::full({3, problem.outputs().variables()}, kNone, torch::kInt64);
  outputs.slice(1, 0, 3) = paths;
  EXPECT_TRUE(torch::equal(apply(problem, worlds)[0], outputs[0]));
  const auto regrets = regret(problem, worlds, outputs);
  EXPECT_EQ(regrets[0].item<double>(), 0);
  EXPECT_EQ(regrets[1].item<double>(), 12);  // tenths
  EXPECT_TRUE(std::isinf(regrets[2].item<double>()));
  const auto wanted = outputs[0].expand_as(outputs);
  EXPECT_TRUE(torch::equal(distance(problem, worlds, outputs, wanted), torch::tensor({0.0F, 3.0F, 1.0F})));
}

TEST(PathPlanning, PlansBetweenAnyEndsAndTellsTheDirectionFromEveryCell) {
  const PathPlanning problem(5, PathEnds::kAny);
  const auto terrains = torch::randint(0, kTerrains, {40, 25}, seeded(2), torch::kInt64);
  const auto& known = *problem.facts().find<KnownVariables>();
  const auto worlds = complete_worlds(known, terrains, draw_known(known, 40, seeded(3)), problem.worlds());
  const auto outputs = apply(problem, worlds);
  EXPECT_TRUE((regret(problem, worlds, outputs) == 0).all().item<bool>());
  const auto trace = trace_of(*problem.facts().find<Trace>(), worlds);
  for (std::int64_t row = 0; row < 40; ++row) {
    const auto walk = problem.walk().in(row_of(worlds, row));
    auto cell = walk.start;
    for (const auto direction : values_of(outputs[row])) {
      if (direction == kNone) break;
      ASSERT_EQ(trace[row][cell].item<std::int64_t>(), direction);
      cell = problem.walk().step(cell, direction);
    }
    EXPECT_EQ(cell, walk.goal);
    EXPECT_EQ(trace[row][cell].item<std::int64_t>(), kUnset);
  }
}

}  // namespace
}  // namespace anesi

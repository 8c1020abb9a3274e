#include "anesi/tasks/warcraft/windows.h"

#include <gtest/gtest.h>

#include "anesi/builtin/maps.h"
#include "anesi/tensors/array_examples.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

class Windows : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Sides, Windows, testing::Values(5, 8, 12));

TEST_P(Windows, HoldPiecesThatAreThemselvesWhatTheSolverFinds) {
  const PathPlanning problem(12), piece(GetParam(), PathEnds::kAny);
  const auto maps = examples_of(draw_maps(problem, {.train = 200, .validation = 1, .test = 1}, 3)).train;
  const auto windows =
      draw_windows(*maps, torch::arange(200), problem.walk(), GetParam(), piece.outputs().variables(), seeded(4));
  EXPECT_EQ(windows.inputs.sizes(), (std::vector<std::int64_t>{200, GetParam() * GetParam(), 3, 8, 8}));
  EXPECT_TRUE(torch::equal(apply(piece, windows.worlds), windows.observations.outputs));
}

TEST(WindowsOfMaps, OfTheirSizeShowAllOfThem) {
  const PathPlanning problem(12);
  const auto maps = examples_of(draw_maps(problem, {.train = 20, .validation = 1, .test = 1}, 5)).train;
  const auto windows =
      draw_windows(*maps, torch::arange(20), problem.walk(), 12, problem.outputs().variables(), seeded(6));
  EXPECT_TRUE(torch::equal(windows.inputs, maps->batch(0, 20).inputs));
  const auto cells = maps->worlds().size(1);
  EXPECT_TRUE(torch::equal(windows.worlds.slice(1, 0, cells), maps->worlds()));
  EXPECT_TRUE(torch::equal(windows.worlds.slice(1, cells), windows.known));
}

TEST(WindowsOfMaps, MayBeWholeMapsWithTheirCorners) {
  const PathPlanning problem(6), any(6, PathEnds::kAny);
  const auto maps = examples_of(draw_maps(problem, {.train = 20, .validation = 1, .test = 1}, 5)).train;
  const auto whole = whole_maps(*maps, torch::arange(5, 15), problem.walk());
  EXPECT_TRUE(torch::equal(apply(any, whole.worlds), maps->labels().outputs.slice(0, 5, 15)));
}

}  // namespace
}  // namespace anesi

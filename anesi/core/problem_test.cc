#include "anesi/core/problem.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/core/score.h"
#include "anesi/core/thread_pool.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

std::shared_ptr<const Problem> product() {
  return make_problem(Space::uniform(2, 10), Space{82}, [](Values w, MutableValues y) { y[0] = w[0] * w[1]; });
}

TEST(Problem, FromALambda) {
  const auto problem = product();
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{7, 8}), std::vector<std::int64_t>{56});
  EXPECT_EQ(problem->facts().find<Pruner>(), nullptr);
}

TEST(Problem, BatchEqualsOneByOneOverThreads) {
  const ThreadLimit two(2);
  const auto problem = product();
  Random random(1);
  const auto worlds = random_points(problem->worlds(), 5000, random);
  const auto outputs = apply(*problem, worlds);
  for (std::int64_t row = 0; row < worlds.size(); ++row) EXPECT_EQ(outputs[row][0], worlds[row][0] * worlds[row][1]);
}

TEST(Problem, AnOutputOutsideItsSpaceIsNamed) {
  const auto problem =
      make_problem(Space::uniform(2, 10), Space{10}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
  for (const auto& message : {toys::message_of([&] {
                                apply_to(*problem, std::vector<std::int64_t>{7, 8});
                              }),
                              toys::message_of([&] {
                                apply(*problem, Points{{1, 2}, {7, 8}});
                              })}) {
    EXPECT_TRUE(toys::names(message, {"(7, 8)", "variable 0", "15", "0", "9"}));
  }
}

TEST(Problem, OutputsMayEndEarlyAndWorldsOfAnotherShapeAreRefused) {
  // As many ones as the world says.
  const auto problem = make_problem(Space{4}, Space::uniform(3, 2), [](Values w, MutableValues y) {
    for (std::size_t place = 0; place < static_cast<std::size_t>(w[0]); ++place) y[place] = 1;
  });
  EXPECT_EQ(apply(*problem, Points{{0}, {2}, {3}}), (Points{{-1, -1, -1}, {1, 1, -1}, {1, 1, 1}}));
  EXPECT_THROW(apply(*problem, Points{{0, 1}}), Error);
}

TEST(Problem, RegretAndDistanceAreThoseOfItsScoreWhereItHasOne) {
  const auto problem = product();
  const Points worlds{{2, 3}, {2, 3}}, outputs{{6}, {8}}, wanted{{6}, {6}};
  EXPECT_EQ(regret(*problem, worlds, outputs), (std::vector{0.0F, 1.0F}));
  EXPECT_EQ(distance(*problem, worlds, outputs, wanted), (std::vector{0.0F, 1.0F}));
  const auto scored = with(problem, Score{.regret = [](PointRows w, PointRows y) {
                             std::vector<float> off;
                             for (std::int64_t row = 0; row < w.size(); ++row) {
                               off.push_back(static_cast<float>(std::abs(y[row][0] - w[row][0] * w[row][1])));
                             }
                             return off;
                           }});
  EXPECT_EQ(regret(*scored, worlds, outputs), (std::vector{0.0F, 2.0F}));
  EXPECT_EQ(distance(*scored, worlds, outputs, wanted), (std::vector{0.0F, 1.0F}))
      << "a score without a distance leaves distances as they are";
}

}  // namespace
}  // namespace anesi

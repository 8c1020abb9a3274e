#include "anesi/core/problem.h"

#include <gtest/gtest.h>

#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/core/score.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/threads.h"

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
  const toys::Threads two(2);
  const auto problem = product();
  const auto worlds = torch::randint(10, {5000, 2}, torch::kInt64);
  EXPECT_TRUE(torch::equal(problem->apply(worlds).squeeze(1), worlds.prod(1)));
}

TEST(Problem, AnOutputOutsideItsSpaceIsNamed) {
  const auto problem =
      make_problem(Space::uniform(2, 10), Space{10}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
  for (const auto& message : {toys::message_of([&] {
                                apply_to(*problem, std::vector<std::int64_t>{7, 8});
                              }),
                              toys::message_of([&] {
                                problem->apply(torch::tensor({{1, 2}, {7, 8}}));
                              })}) {
    EXPECT_TRUE(toys::names(message, {"(7, 8)", "variable 0", "15", "0", "9"}));
  }
}

TEST(Problem, OutputsMayEndEarlyAndWorldsOfAnotherShapeAreRefused) {
  // As many ones as the world says.
  const auto problem = make_problem(Space{4}, Space::uniform(3, 2), [](Values w, MutableValues y) {
    for (std::size_t place = 0; place < static_cast<std::size_t>(w[0]); ++place) y[place] = 1;
  });
  EXPECT_TRUE(torch::equal(problem->apply(torch::tensor({{0}, {2}, {3}})),
                           torch::tensor({{-1, -1, -1}, {1, 1, -1}, {1, 1, 1}})));
  EXPECT_THROW(problem->apply(torch::tensor({{0, 1}})), c10::Error);
  EXPECT_THROW(problem->apply(torch::tensor({{0.5}})), c10::Error);
}

TEST(Problem, RegretAndDistanceAreThoseOfItsScoreWhereItHasOne) {
  const auto problem = product();
  const auto worlds = torch::tensor({{2, 3}, {2, 3}}), outputs = torch::tensor({{6}, {8}});
  EXPECT_TRUE(torch::equal(regret(*problem, worlds, outputs), torch::tensor({0.0F, 1.0F})));
  EXPECT_TRUE(
      torch::equal(distance(*problem, worlds, outputs, torch::tensor({{6}, {6}})), torch::tensor({0.0F, 1.0F})));
  const auto scored =
      with(problem, Score{.regret = [](const torch::Tensor& w, const torch::Tensor& y) {
             return (y.squeeze(1) - w.prod(1)).abs().to(torch::kFloat32);
           }});
  EXPECT_TRUE(torch::equal(regret(*scored, worlds, outputs), torch::tensor({0.0F, 2.0F})));
  EXPECT_TRUE(torch::equal(distance(*scored, worlds, outputs, torch::tensor({{6}, {6}})), torch::tensor({0.0F, 1.0F})))
      << "a score without a distance leaves distances as they are";
}

}  // namespace
}  // namespace anesi

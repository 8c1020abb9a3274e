#include "anesi/core/problem.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

std::unique_ptr<Problem> product() {
  return make_problem(Space::uniform(2, 10), Space{82}, [](Values w, MutableValues y) { y[0] = w[0] * w[1]; });
}

TEST(Problem, FromALambda) {
  const auto problem = product();
  EXPECT_EQ(apply_checked(*problem, std::vector<std::int64_t>{7, 8}), std::vector<std::int64_t>{56});
  EXPECT_EQ(problem->pruner(), nullptr);
}

TEST(Problem, BatchEqualsOneByOneOverThreads) {
  torch::set_num_threads(2);
  const auto problem = product();
  const auto worlds = torch::randint(10, {5000, 2}, torch::kInt64);
  EXPECT_TRUE(torch::equal(problem->apply_batch(worlds).squeeze(1), worlds.prod(1)));
}

TEST(Problem, AnOutputOutsideItsSpaceIsNamed) {
  const auto problem =
      make_problem(Space::uniform(2, 10), Space{10}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
  try {
    apply_checked(*problem, std::vector<std::int64_t>{7, 8});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "problem: the output of world (7, 8) is outside its space: variable 0 is 15; its values are 0 to 9");
  }
}

TEST(ReadingOrder, ByDefaultReadsAllThenEmits) {
  const auto order = ReadingOrder::all_then_emit(Space{10, 2, 10}, Space{2, 3});
  ASSERT_EQ(order.steps().size(), 5u);
  EXPECT_EQ(order.kinds(), 4);  // two domains read, two outputs emitted
  EXPECT_EQ(order.steps()[0].kind, order.steps()[2].kind);
  EXPECT_EQ(order.emitted(), (std::vector<std::int64_t>{0, 1}));
}

TEST(ReadingOrder, RefusesWhatIsNotAnOrder) {
  const Space worlds{10, 10}, outputs{10};
  EXPECT_THROW(ReadingOrder(worlds, outputs, {{{0, 0}, 0, 0}}), Error);             // read twice
  EXPECT_THROW(ReadingOrder(worlds, outputs, {{{0}, 0, 0}}), Error);                // world 1 not read
  EXPECT_THROW(ReadingOrder(worlds, outputs, {{{0, 1}, {}, 0}}), Error);            // nothing emitted
  EXPECT_THROW(ReadingOrder(worlds, outputs, {{{0}, {}, 0}, {{1}, 0, 0}}), Error);  // one kind, two shapes
  EXPECT_NO_THROW(ReadingOrder(worlds, outputs, {{{0, 1}, 0, 0}}));
}

}  // namespace
}  // namespace anesi

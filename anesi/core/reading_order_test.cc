#include "anesi/core/reading_order.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

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

TEST(ReadingOrder, OfAProblemIsItsOwnWhereItTellsOne) {
  const auto problem = make_problem(Space{10, 10}, Space{10}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_EQ(reading_order_of(*problem).steps().size(), 3u);
  const ReadingOrder own(problem->worlds(), problem->outputs(), {{{1, 0}, 0, 0}});
  EXPECT_EQ(reading_order_of(*with(problem, own)).read(), (std::vector<std::int64_t>{1, 0}));
}

TEST(ReadingOrder, ComplainsOfOtherSpaces) {
  const Space worlds{10, 10}, outputs{10};
  const ReadingOrder order(worlds, outputs, {{{0, 1}, 0, 0}});
  EXPECT_EQ(order.complaint(worlds, outputs), "");
  EXPECT_EQ(order.complaint(Space{10, 9}, outputs), "it is for variables of other domains");
  EXPECT_EQ(order.complaint(Space{10}, outputs), "reading order: world variable 1 does not exist; there are 1");
  EXPECT_EQ(order.complaint(worlds, Space{10, 2}), "reading order: output variable 1 is missing");
}

}  // namespace
}  // namespace anesi

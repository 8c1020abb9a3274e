#include "anesi/core/space.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

TEST(Space, CountsAndVisitsEveryPointOnce) {
  const Space space{2, 3, 1};
  EXPECT_EQ(space.points(), 6);
  EXPECT_EQ(space.largest_domain(), 3);
  EXPECT_FALSE(space.all_domains_equal());
  std::vector<std::vector<std::int64_t>> points;
  space.for_each_point([&](Values point) { points.emplace_back(point.begin(), point.end()); });
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points.front(), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(points[1], (std::vector<std::int64_t>{0, 1, 0}));
  EXPECT_EQ(points.back(), (std::vector<std::int64_t>{1, 2, 0}));
}

TEST(Space, SaysWhatIsWrongWithAPoint) {
  const Space space = Space::uniform(3, 10);
  EXPECT_EQ(space.complaint(std::vector<std::int64_t>{1, 2, 3}), "");
  EXPECT_EQ(space.complaint(std::vector<std::int64_t>{1, kNone, kNone}), "");
  EXPECT_EQ(space.complaint(std::vector<std::int64_t>{1, kNone, 3}), "variable 2 is 3 after the output had ended");
  EXPECT_EQ(space.complaint(std::vector<std::int64_t>{1, 10, 3}), "variable 1 is 10; its values are 0 to 9");
  EXPECT_EQ(space.complaint(std::vector<std::int64_t>{1, 2}), "2 values for 3 variables");
}

TEST(Space, RefusesAnEmptyDomain) { EXPECT_THROW(Space({3, 0}), Error); }

}  // namespace
}  // namespace anesi

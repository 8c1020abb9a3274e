#include "anesi/data/grouped_digits.h"

#include <gtest/gtest.h>

#include <set>

#include "anesi/core/error.h"
#include "anesi/data/procedural_digits.h"

namespace anesi {
namespace {

const std::shared_ptr<const Problem> kSum =
    make_problem(Space{10, 10, 10}, Space{28}, [](Values w, MutableValues y) { y[0] = w[0] + w[1] + w[2]; });

TEST(GroupedDigits, UseEachDigitOnce) {
  const DigitSets digits{render_digits(121, 1), render_digits(30, 2), "drawn", true};
  const auto grouped = grouped_digits(digits, *kSum, {.seed = 4, .validation = true});
  ASSERT_TRUE(grouped.validation);
  EXPECT_EQ(points_of(*grouped.train.index).size(), 33);  // 101 digits, two left over
  EXPECT_EQ(points_of(*grouped.validation->index).size(), 6);
  EXPECT_EQ(points_of(*grouped.test.index).size(), 10);
  EXPECT_EQ(points_of(*grouped.test.index)[3][1], 10) << "test digits keep their order";
  std::set<std::int64_t> used;
  for (const auto* const split : {&grouped.train, &*grouped.validation}) {
    const auto images = points_of(*split->index), worlds = points_of(*split->worlds),
               outputs = points_of(*split->outputs);
    for (std::int64_t row = 0; row < images.size(); ++row) {
      std::int64_t sum = 0;
      for (std::size_t place = 0; place < 3; ++place) {
        EXPECT_TRUE(used.insert(images[row][place]).second);
        EXPECT_EQ(worlds[row][place], digits.train.labels[static_cast<std::size_t>(images[row][place])]);
        sum += worlds[row][place];
      }
      EXPECT_EQ(outputs[row][0], sum);
    }
  }
  EXPECT_EQ(grouped_digits(digits, *kSum, {.seed = 4}).test.index, grouped.test.index);
  EXPECT_NE(grouped_digits(digits, *kSum, {.seed = 5}).train.index, grouped_digits(digits, *kSum, {}).train.index);
  EXPECT_THROW(grouped_digits({render_digits(2, 1), render_digits(30, 2), "", true}, *kSum, {}), Error);
}

}  // namespace
}  // namespace anesi

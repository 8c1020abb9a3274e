#include "anesi/cli/progress_display.h"

#include <gtest/gtest.h>

namespace anesi::cli {
namespace {

TEST(ProgressDisplay, ABarIsAsFullAsTheShareThatIsDone) {
  EXPECT_EQ(bar_line(0.5, "half", 80), "[############............] half");
  EXPECT_EQ(bar_line(0, "none", 80), "[........................] none");
  EXPECT_EQ(bar_line(2, "more than all", 80), "[########################] more than all");
}

TEST(ProgressDisplay, ALineFitsIntoItsColumns) {
  const std::string text(30, 'x');
  EXPECT_EQ(bar_line(1, text, 57).size(), 57);
  EXPECT_EQ(bar_line(1, text, 56), text);
  EXPECT_EQ(bar_line(1, text, 10), std::string(10, 'x'));
  EXPECT_EQ(bar_line(1, text, 0), "");
}

TEST(ProgressDisplay, Durations) {
  EXPECT_EQ(duration_text(12.4), "12 s");
  EXPECT_EQ(duration_text(187), "3:07");
  EXPECT_EQ(duration_text(3909), "1:05:09");
}

}  // namespace
}  // namespace anesi::cli

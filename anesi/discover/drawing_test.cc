#include "anesi/discover/drawing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

std::int64_t count_of(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (auto place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++count;
  return count;
}

// Counts the ones among its variables, modulo something, and emits them at the end.
Automaton counter(std::int64_t variables, std::int64_t modulo) {
  std::vector<ReadingStep> steps;
  for (std::int64_t variable = 0; variable < variables; ++variable) steps.push_back({{variable}, std::nullopt, 0});
  steps.push_back({{}, 0, 1});
  return {ReadingOrder(Space::uniform(variables, 2), Space{modulo}, steps), modulo, 0,
          [modulo](std::int64_t kind, Values read, std::int64_t state) {
            if (kind == 1) return Automaton::Move{.emits = state, .next = 0};
            return Automaton::Move{.emits = 0, .next = (state + read[0]) % modulo};
          }};
}

TEST(Drawing, HasACircleForEachStateAndALineForEachEdge) {
  const auto picture = draw_automaton(counter(3, 2));
  EXPECT_EQ(count_of(picture, "<circle "), 1 + 2 + 2 + 2 + 1);
  EXPECT_EQ(count_of(picture, "<line "), 2 + 4 + 4 + 2);
  EXPECT_EQ(count_of(picture, "reads w"), 3);
  EXPECT_EQ(count_of(picture, "emits y0"), 1);
  EXPECT_NE(picture.find(">/ 1</text>"), std::string::npos);
  EXPECT_EQ(count_of(picture, "<text"), count_of(picture, "</text>"));
  EXPECT_EQ(count_of(picture, "…"), 0);
}

TEST(Drawing, LeavesOutStepsThatRepeat) {
  // Two steps show all that a step does; then dots, and the emission.
  const auto picture = draw_automaton(counter(40, 2));
  EXPECT_EQ(count_of(picture, "<circle "), 1 + 2 + 2 + 2 + 1);
  EXPECT_EQ(count_of(picture, ">…<"), 1);
  EXPECT_EQ(count_of(picture, "38 more"), 1);
}

TEST(Drawing, GroupsTheValuesOfAnEdge) {
  const auto addition = toys::Addition(1, 4).facts().share<Automaton>();
  const auto picture =
      draw_automaton(*addition, {.title = "a < b & c",
                                 .world = [](std::int64_t variable) { return fmt::format("digit {}", variable); },
                                 .output = {}});
  EXPECT_NE(picture.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_TRUE(toys::names(picture, {"digit 0", "digit 1"}));
  // No carry: sums of 0, 1, 2, and more that is not shown.
  EXPECT_NE(picture.find(">0 0 / 0; 0 1, 1 0 / 1; 0 2, 1 1, 2 0 / 2; …<"), std::string::npos) << picture;
  const Automaton ranges(ReadingOrder(Space{10}, Space{2}, {{{0}, 0, 0}}), 1, 0,
                         [](std::int64_t, Values read, std::int64_t) {
                           return Automaton::Move{.emits = read[0] < 5 || read[0] == 7 ? 0 : 1, .next = 0};
                         });
  EXPECT_NE(draw_automaton(ranges).find(">0-4, 7 / 0; 5, 6, 8, 9 / 1<"), std::string::npos);
}

TEST(Drawing, RefusesWhatNobodyCouldRead) {
  EXPECT_NO_THROW(draw_automaton(counter(23, 24)));
  const auto message = toys::message_of([] { draw_automaton(counter(30, 40)); });
  EXPECT_NO_THROW(draw_automaton(counter(11, 100)));
  EXPECT_THROW(draw_automaton(counter(30, 40)), UsageError);
  EXPECT_TRUE(toys::names(message, {"24"}));
}

}  // namespace
}  // namespace anesi

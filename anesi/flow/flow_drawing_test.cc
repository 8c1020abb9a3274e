#include "anesi/flow/flow_drawing.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "anesi/core/error.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

FlowNetwork any_of(std::int64_t variables, FlowView view) {
  return FlowNetwork(
      Space::uniform(variables, 2), Space{2}, [](Values w, MutableValues y) { y[0] = std::ranges::max(w); }, view);
}

std::string picture_of(const FlowNetwork& network, const FlowWords& words) {
  const auto variables = static_cast<std::size_t>(network.worlds().variables());
  return draw_flow(network, exact_flow(network, WorldBeliefs(variables, {0.4, 0.6})), words);
}

std::int64_t count(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), std::sregex_iterator());
}

FlowWords letters() {
  FlowWords words;
  words.world = [](std::int64_t variable, std::int64_t value) {
    return std::string(value == 1 ? "" : "not ") + static_cast<char>('A' + variable);
  };
  words.output = [](std::int64_t, std::int64_t value) { return value == 1 ? "y=1" : "y=0"; };
  words.stands_out = [](const FlowState& state) { return state.output[0] == 1; };
  return words;
}

TEST(FlowDrawing, ShowsEveryNodeAndWhatFlows) {
  for (const auto& [view, nodes] :
       {std::pair(FlowView::kTree, 10), std::pair(FlowView::kLattice, 6), std::pair(FlowView::kAssignments, 13)}) {
    const auto picture = picture_of(any_of(2, view), letters());
    EXPECT_EQ(count(picture, "class='node'"), nodes);
    EXPECT_EQ(count(picture, "fill='none'/><title>"), 4) << "worlds come out at four states, which have two outlines";
    EXPECT_GE(count(picture, "class='flow'>0\\.84<"), 1) << "p(y=1|P)";
    EXPECT_EQ(count(picture, "no number"), 0) << "there is room for every number";
  }
}

TEST(FlowDrawing, LetsNumbersCoverNothing) {
  struct Rectangle {
    double left, right, top, bottom;
  };
  for (const auto view : {FlowView::kTree, FlowView::kLattice}) {
    const auto picture = picture_of(any_of(4, view), letters());
    std::vector<Rectangle> numbers;
    const std::regex wanted("<text x='([0-9.-]+)' y='([0-9.-]+)' class='flow'>([^<]*)<");
    for (std::sregex_iterator at(picture.begin(), picture.end(), wanted), end; at != end; ++at) {
      const auto x = std::stod((*at)[1]), y = std::stod((*at)[2]), half = 3.0 * static_cast<double>((*at)[3].length());
      numbers.push_back({x - half, x + half, y - 9, y + 1});
    }
    EXPECT_GT(numbers.size(), 20U);
    for (std::size_t one = 0; one < numbers.size(); ++one) {
      for (std::size_t other = one + 1; other < numbers.size(); ++other) {
        const auto &a = numbers[one], &b = numbers[other];
        EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom);
      }
    }
  }
}

TEST(FlowDrawing, EscapesNamesAndHasSomeOfItsOwn) {
  auto words = letters();
  words.title = "a < b";
  words.world = [](std::int64_t, std::int64_t) { return "<&>"; };
  const auto picture = picture_of(any_of(2, FlowView::kTree), words);
  EXPECT_NE(picture.find("a &lt; b"), std::string::npos);
  EXPECT_NE(picture.find("&lt;&amp;&gt;"), std::string::npos);
  EXPECT_NE(picture_of(any_of(2, FlowView::kTree), {}).find("w1=0"), std::string::npos);
}

TEST(FlowDrawing, RefusesWhatThereIsNoRoomFor) {
  EXPECT_NO_THROW(picture_of(any_of(6, FlowView::kTree), letters()));
  EXPECT_NO_THROW(picture_of(any_of(6, FlowView::kLattice), letters()));
  EXPECT_THROW(picture_of(any_of(6, FlowView::kAssignments), letters()), UsageError);
}

TEST(FlowWords, DescribeStates) {
  const auto tree = any_of(2, FlowView::kTree), lattice = any_of(2, FlowView::kLattice);
  EXPECT_EQ(describe_state(tree, tree.source(), letters()), "P");
  EXPECT_EQ(describe_state(tree, tree.sink(), letters()), "end");
  std::set<std::string> of_tree, of_lattice;
  for (std::int64_t state = 0; state <= tree.sink(); ++state) of_tree.insert(describe_state(tree, state, letters()));
  for (std::int64_t state = 0; state <= lattice.sink(); ++state)
    of_lattice.insert(describe_state(lattice, state, letters()));
  EXPECT_TRUE(of_tree.contains("y=1, A, not B"));
  EXPECT_EQ(of_tree.size(), 11U);
  EXPECT_EQ(of_lattice,
            (std::set<std::string>{"P", "y=0, {}", "y=1, {}", "y=1, {A}", "y=1, {A, B}", "y=1, {B}", "end"}));
}

}  // namespace
}  // namespace anesi

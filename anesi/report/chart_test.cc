#include "anesi/report/chart.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

namespace anesi {
namespace {

// Where the circles of a chart are.
std::vector<ChartPoint> circles_in(const std::string& svg) {
  static const std::regex kCircle("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::vector<ChartPoint> places;
  for (std::sregex_iterator match(svg.begin(), svg.end(), kCircle), end; match != end; ++match) {
    places.push_back({std::stod((*match)[1]), std::stod((*match)[2])});
  }
  return places;
}

// Where the tick of this name is on the horizontal axis, or its height on the vertical one.
double tick_of(const std::string& svg, const std::string& label, bool horizontal) {
  const std::regex tick(fmt::format("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"{}\"[^>]*>{}</text>",
                                    horizontal ? "middle" : "end", label));
  std::smatch match;
  if (!std::regex_search(svg, match, tick)) return std::numeric_limits<double>::quiet_NaN();
  return horizontal ? std::stod(match[1]) : std::stod(match[2]) - 3.5;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Chart, TicksAreRoundAndInside) {
  EXPECT_EQ(linear_ticks(0, 10), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(91.9, 95.4), (std::vector<double>{92, 93, 94, 95}));
  EXPECT_EQ(linear_ticks(-1, 1).size(), 5);
  EXPECT_EQ(logarithmic_ticks(0.1, 10), (std::vector<double>{0.1, 0.2, 0.5, 1, 2, 5, 10}));
  EXPECT_EQ(logarithmic_ticks(1, 1e4), (std::vector<double>{1, 10, 100, 1000, 10000}));
}

TEST(Chart, PointsLandAtTheirTicks) {
  const LineChart chart{
      .x = {.title = "x"}, .y = {.title = "y"}, .lines = {{.name = "line", .points = {{0, 0}, {4, 2}, {10, 10}}}}};
  const auto svg = to_svg(chart);
  const auto places = circles_in(svg);  // the fourth is the legend's
  ASSERT_EQ(places.size(), 4);
  EXPECT_NEAR(places[0].x, tick_of(svg, "0", true), 0.11);
  EXPECT_NEAR(places[1].x, tick_of(svg, "4", true), 0.11);
  EXPECT_NEAR(places[2].x, tick_of(svg, "10", true), 0.11);
  EXPECT_NEAR(places[0].y, tick_of(svg, "0", false), 0.11);
  EXPECT_NEAR(places[1].y, tick_of(svg, "2", false), 0.11);
  EXPECT_NEAR(places[2].y, tick_of(svg, "10", false), 0.11);
  EXPECT_LT(places[2].y, places[0].y);  // upwards
}

TEST(Chart, LogarithmicAxesSpreadPowersEvenly) {
  const LineChart chart{.y = {.logarithmic = true},
                        .lines = {{.name = "line", .points = {{0, 0.01}, {1, 1}, {2, 100}, {3, -1}}}}};
  const auto places = circles_in(to_svg(chart));
  ASSERT_EQ(places.size(), 4);  // what is not above zero has no place; the last is the legend's
  EXPECT_NEAR(places[0].y - places[1].y, places[1].y - places[2].y, 0.11);
}

TEST(Chart, GapsBreakLines) {
  const auto none = std::numeric_limits<double>::quiet_NaN();
  const LineChart chart{.lines = {{.name = "line", .points = {{0, 1}, {1, none}, {2, 3}, {3, 4}}}}};
  const std::regex two_pieces("<path d=\"M[0-9. ]+M[0-9. ]+L[0-9. ]+\" fill=\"none\"");
  EXPECT_TRUE(std::regex_search(to_svg(chart), two_pieces));
}

TEST(Chart, NothingAndOneValueHaveAxesToo) {
  for (const auto& points : {std::vector<ChartPoint>{}, {{1, 1}}, {{0, 0}, {0, 0}}}) {
    for (const bool logarithmic : {false, true}) {
      const auto svg =
          to_svg(LineChart{.y = {.logarithmic = logarithmic}, .lines = {{.name = "line", .points = points}}});
      EXPECT_FALSE(contains(svg, "nan")) << svg;
      EXPECT_FALSE(contains(svg, "inf")) << svg;
    }
  }
}

TEST(Chart, LinesAreToldApartWithoutColours) {
  LineChart chart;
  for (int line = 0; line < 10; ++line) {
    chart.lines.push_back({.name = fmt::format("line {}", line), .points = {{0, 1.0 * line}, {1, 2.0 * line}}});
  }
  const auto svg = to_svg(chart);
  std::vector<std::string> looks;
  const std::regex sample("<path d=\"M0 0h28\" fill=\"none\" stroke-dasharray=\"([^\"]+)\"/>(<[^>]+>)");
  for (std::sregex_iterator match(svg.begin(), svg.end(), sample), end; match != end; ++match)
    looks.push_back(match->str());
  ASSERT_EQ(looks.size(), 10);
  std::sort(looks.begin(), looks.end());
  EXPECT_EQ(std::unique(looks.begin(), looks.end()), looks.end());
}

TEST(Chart, HostileNamesAreText) {
  const std::string name = "</svg><script>alert(\"1\")</script>&'\x1b";
  const LineChart chart{.title = name,
                        .description = name,
                        .x = {.title = name},
                        .y = {.title = name},
                        .lines = {{.name = name, .points = {{0, 1}, {1, 2}}}},
                        .marks = {{.x = 0, .name = name}}};
  const ConfusionChart confusion{.title = name, .description = name, .values = {name, "b"}, .counts = {{1, 2}, {0, 4}}};
  for (const auto& svg : {to_svg(chart), to_svg(confusion)}) {
    EXPECT_FALSE(contains(svg, "<script")) << svg;
    EXPECT_FALSE(contains(svg, "\x1b")) << svg;
    EXPECT_TRUE(contains(svg, "&lt;script&gt;")) << svg;
    EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
  }
}

TEST(Chart, NeitherStylesNorIds) {
  const ReliabilityChart reliability{.title = "t",
                                     .description = "d",
                                     .bins = {{.low = 0, .high = 0.5, .confidence = 0.3, .right = 0.2, .examples = 4},
                                              {.low = 0.5, .high = 1, .confidence = 0.9, .right = 1, .examples = 6}}};
  const ConfusionChart confusion{.title = "t", .description = "d", .values = {"a", "b"}, .counts = {{1, 2}, {0, 4}}};
  const LineChart lines{.lines = {{.name = "line", .points = {{0, 1}, {1, 2}}}},
                        .bands = {{.name = "band", .slices = {{0, 1, 2}, {1, 2, 3}}}}};
  for (const auto& svg : {to_svg(reliability), to_svg(confusion), to_svg(lines)}) {
    EXPECT_FALSE(contains(svg, "style")) << svg;
    EXPECT_FALSE(contains(svg, " id=")) << svg;
    EXPECT_TRUE(contains(svg, "role=\"img\""));
    EXPECT_TRUE(contains(svg, "<title>"));
    EXPECT_TRUE(contains(svg, "<desc>"));
  }
}

TEST(Chart, ReliabilityPointsStandAtBothMeans) {
  const ReliabilityChart chart{.bins = {{.low = 0.4, .high = 0.6, .confidence = 0.5, .right = 0.5, .examples = 3},
                                        {.low = 0.8, .high = 1, .confidence = 1, .right = 0.4, .examples = 1}}};
  const auto svg = to_svg(chart);
  const auto places = circles_in(svg);
  ASSERT_EQ(places.size(), 3);
  EXPECT_NEAR(places[1].x, tick_of(svg, "1", true), 0.11);
  EXPECT_NEAR(places[1].y, tick_of(svg, "0.4", false), 0.11);
  EXPECT_NEAR(places[0].x, (tick_of(svg, "0.4", true) + tick_of(svg, "0.6", true)) / 2, 0.11);
}

TEST(Chart, ConfusionShowsCountsThatAreThere) {
  const auto svg = to_svg(ConfusionChart{.values = {"a", "b"}, .counts = {{91, 2}, {0, 74}}});
  for (const auto* number : {">91<", ">2<", ">74<"}) EXPECT_TRUE(contains(svg, number)) << svg;
  EXPECT_FALSE(contains(svg, ">0<"));
}

}  // namespace
}  // namespace anesi

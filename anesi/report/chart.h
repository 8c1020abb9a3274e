// Charts as SVG, for the report and for the page.
//
// Lines are told apart by dashes and markers as well as by colours, which those who see few colours can tell apart too,
// so a chart can be read in black and white. Text and axes have the colour of the text around them. There is neither a
// style nor a script in it, so that a page with a strict content security policy may show it; classes (chart-text,
// chart-axis, chart-grid, chart-paper, series-0 to series-6) are there for a page to give it other colours.
//
// Text may come from anywhere: it is escaped here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anesi {

struct ChartPoint {
  double x = 0, y = 0;  // where y is not finite the line has a gap
};

enum class LineWeight { kUsual, kStrong, kFaint };  // a faint one has no markers and is not in the legend

struct ChartLine {
  std::string name = {};
  std::vector<ChartPoint> points = {};
  LineWeight weight = LineWeight::kUsual;
};

// Between two curves, as a shade.
struct ChartBand {
  struct Slice {
    double x = 0, low = 0, high = 0;
  };
  std::string name = {};
  std::vector<Slice> slices = {};
};

// A vertical line with a word: where a phase begins.
struct ChartMark {
  double x = 0;
  std::string name;
};

struct ChartAxis {
  std::string title = {};                     // with its unit: "training time (s)"
  bool logarithmic = false;                   // then only values above zero are shown
  std::optional<double> low = {}, high = {};  // that it reaches at least
  bool whole = false;                         // ticks are whole numbers
};

struct LineChart {
  std::string title = {}, description = {};  // for those who do not see it
  ChartAxis x = {}, y = {};
  std::vector<ChartLine> lines = {};
  std::vector<ChartBand> bands = {};
  std::vector<ChartMark> marks = {};
};

std::string to_svg(const LineChart& chart);

// How often examples were right, against how sure the model was: a bar for each bin, a point at its two means, and the
// diagonal on which both are the same. Below, how many of the examples are in each bin.
struct ReliabilityChart {
  struct Bin {
    double low = 0, high = 0, confidence = 0, right = 0;
    std::int64_t examples = 0;
  };
  std::string title = {}, description = {};
  std::vector<Bin> bins = {};
};

std::string to_svg(const ReliabilityChart& chart);

// How often a true value (rows) was read as each value (columns): the darker, the larger a share of its row.
struct ConfusionChart {
  std::string title = {}, description = {};
  std::vector<std::string> values = {};
  std::vector<std::vector<std::int64_t>> counts = {};  // [true value][value read]
};

std::string to_svg(const ConfusionChart& chart);

// Where an axis has ticks: round numbers within low and high, some five of them.
std::vector<double> linear_ticks(double low, double high);
std::vector<double> logarithmic_ticks(double low, double high);

}  // namespace anesi

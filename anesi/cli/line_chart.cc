#include "anesi/cli/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace anesi::cli {
namespace {

constexpr double kChartLeft = 78, kChartTop = 48, kChartWidth = 560, kChartHeight = 360, kChartLegend = 190;
constexpr std::array kColours{"#1f6fb4", "#c26a00", "#2a8a4a", "#b22255", "#6a4fb3", "#7a5a3a", "#222222", "#8a8a8a"};
constexpr std::array kDashes{"none", "6 3", "2 3"};

// A logarithmic axis that spans its values.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = 0;

  void cover(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double place(double value) const { return std::log(value / low) / std::log(high / low); }
};

// Powers of ten, where they are few also 2 and 5 times those: the last one below to the first one above.
std::vector<double> ticks_around(double low, double high) {
  constexpr double kManyTimes = 300, kRounding = 1 + 1e-9;
  const auto factors = high / low > kManyTimes ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
  std::vector<double> ticks;
  for (auto power = std::pow(10, std::floor(std::log10(low))); ticks.empty() || ticks.back() * kRounding < high;
       power *= 10) {
    for (const auto factor : factors) {
      const auto tick = factor * power;
      if (tick <= low * kRounding) ticks.clear();
      if (ticks.empty() || ticks.back() * kRounding < high) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::string tick_text(double value) {
  return value >= 1000 ? fmt::format("{:g}k", value / 1000) : fmt::format("{:g}", value);
}

}  // namespace

std::string line_chart(const std::vector<Series>& series, const ChartLabels& labels) {
  Axis x, y;
  for (const auto& line : series) {
    for (const auto& [at, value] : line.points) {
      x.cover(at);
      y.cover(value * labels.y_scale);
    }
  }
  // Whole ticks upwards, a little room sideways.
  const auto ticks = ticks_around(y.low, y.high);
  y.low = ticks.front();
  y.high = ticks.back();
  x.high *= 1.05;
  const auto to_x = [&](double value) { return kChartLeft + kChartWidth * x.place(value); };
  const auto to_y = [&](double value) { return kChartTop + kChartHeight * (1 - y.place(value)); };
  std::string body;
  for (const auto tick : ticks) {
    body += fmt::format(
        "<line x1='{}' y1='{:.1f}' x2='{}' y2='{:.1f}' stroke='#ddd'/><text x='{}' y='{:.1f}' class='tick' "
        "text-anchor='end'>{}</text>\n",
        kChartLeft, to_y(tick), kChartLeft + kChartWidth, to_y(tick), kChartLeft - 8, to_y(tick) + 4, tick_text(tick));
  }
  for (const double tick : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 1e4}) {
    if (tick < x.low || tick > x.high) continue;
    body += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#eee'/><text x='{0:.1f}' y='{3}' class='tick' "
        "text-anchor='middle'>{4}</text>\n",
        to_x(tick), kChartTop, kChartTop + kChartHeight, kChartTop + kChartHeight + 18, tick_text(tick));
  }
  for (std::size_t index = 0; index < series.size(); ++index) {
    const auto& line = series[index];
    const auto* const colour = kColours[index % kColours.size()];
    const auto* const dash = kDashes[index % kDashes.size()];
    std::string path;
    for (const auto& [at, value] : line.points) {
      const auto px = to_x(at), py = to_y(value * labels.y_scale);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", px, py);
      body += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.6' fill='{}'/>\n", px, py, colour);
    }
    body += fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='2' stroke-dasharray='{}'/>\n", path, colour,
                        dash);
    const auto legend = kChartTop + 14 + 22 * static_cast<double>(index);
    body += fmt::format(
        "<line x1='{}' y1='{:.1f}' x2='{}' y2='{:.1f}' stroke='{}' stroke-width='2' stroke-dasharray='{}'/><text "
        "x='{}' "
        "y='{:.1f}' font-size='12'>{}</text>\n",
        kChartLeft + kChartWidth + 18, legend, kChartLeft + kChartWidth + 46, legend, colour, dash,
        kChartLeft + kChartWidth + 54, legend + 4, line.name);
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "font-family='sans-serif'>\n"
      "<style>.tick{{font-size:11px;fill:#444}}</style>\n<rect width='{0}' height='{1}' fill='white'/>\n"
      "<text x='{2}' y='26' font-size='15'>{3}</text>\n{4}"
      "<text x='{5}' y='{6}' font-size='12' text-anchor='middle'>{7}</text>\n"
      "<text transform='translate(20 {8}) rotate(-90)' font-size='12' text-anchor='middle'>{9}</text>\n</svg>\n",
      kChartLeft + kChartWidth + kChartLegend, kChartTop + kChartHeight + 52, kChartLeft, labels.title, body,
      kChartLeft + kChartWidth / 2, kChartTop + kChartHeight + 40, labels.x, kChartTop + kChartHeight / 2, labels.y);
}

std::string side_by_side(const std::vector<std::string>& charts) {
  constexpr double kWidth = kChartLeft + kChartWidth + kChartLegend, kHeight = kChartTop + kChartHeight + 52;
  std::string body;
  for (std::size_t chart = 0; chart < charts.size(); ++chart) {
    body +=
        fmt::format("<g transform='translate({} 0)'>\n{}</g>\n", kWidth * static_cast<double>(chart), charts[chart]);
  }
  const auto width = kWidth * static_cast<double>(charts.size());
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}'>\n{2}</svg>\n", width,
      kHeight, body);
}

}  // namespace anesi::cli

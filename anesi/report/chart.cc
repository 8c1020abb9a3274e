#include "anesi/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "anesi/core/printable.h"
#include "anesi/io/svg.h"

namespace anesi {
namespace {

// Narrow enough that its letters can be read on a telephone.
constexpr double kChartWidth = 440, kPlotLeft = 54, kPlotRight = 426, kPlotTop = 22, kPlotHeight = 210;
constexpr double kLetterWidth = 5.9;  // of the font below, on average

// Okabe and Ito's colours without yellow, which is not seen on white.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73",     "#cc79a7",
                                                   "#e69f00", "#56b4e9", "currentColor"};
constexpr std::array<std::string_view, 5> kDashes{"none", "7 3", "2 3", "9 3 2 3", "14 4"};
constexpr std::size_t kMarkers = 6;

std::string chart_text(std::string_view text) { return escaped_for_svg(printable(text)); }

std::string tick_label(double value) {
  const auto size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

// An axis with its ends fixed, and where on it a value is, from 0 to 1.
class Scale {
 public:
  explicit Scale(const ChartAxis& axis) : logarithmic_(axis.logarithmic), whole_(axis.whole) {
    if (axis.low) cover(*axis.low);
    if (axis.high) cover(*axis.high);
  }

  void cover(double value) {
    if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }

  // Gives ends to an axis of nothing or of one value, and otherwise a little room.
  void settle(bool to_ticks) {
    if (low_ > high_) low_ = logarithmic_ ? 1 : 0, high_ = logarithmic_ ? 10 : 1;
    if (low_ == high_) {
      const auto room = logarithmic_ ? 0 : low_ == 0 ? 1 : std::abs(low_) / 2;
      low_ = logarithmic_ ? low_ / 2 : low_ - room;
      high_ = logarithmic_ ? high_ * 2 : high_ + room;
    }
    ticks_ = logarithmic_ ? logarithmic_ticks(low_, high_) : linear_ticks(low_, high_);
    if (whole_) std::erase_if(ticks_, [](double tick) { return tick != std::round(tick); });
    if (!to_ticks || logarithmic_ || ticks_.size() < 2) return;
    const auto step = ticks_[1] - ticks_[0];
    if (ticks_.front() > low_) ticks_.insert(ticks_.begin(), ticks_.front() - step);
    if (ticks_.back() < high_) ticks_.push_back(ticks_.back() + step);
    low_ = ticks_.front();
    high_ = ticks_.back();
  }

  double place(double value) const {
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  bool logarithmic_, whole_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity();
  std::vector<double> ticks_;
};

struct Place {
  double x, y;
};

// One of six shapes around a place.
std::string marker(std::size_t shape, const Place& at, double size = 3) {
  const auto [x, y] = at;
  switch (shape % kMarkers) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x, y, size);
    case 1:
      return fmt::format("<path d=\"M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z\"/>", x - size, y - size, 2 * size, 2 * size,
                         -2 * size);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z\"/>", x, y - 1.3 * size, 1.3 * size,
                         2.3 * size, -2.6 * size);
    case 3:
      return fmt::format("<path d=\"M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}l{3:.1f} {2:.1f}l{3:.1f} {3:.1f}z\"/>", x,
                         y - 1.4 * size, 1.4 * size, -1.4 * size);
    case 4:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z\"/>", x, y + 1.3 * size, 1.3 * size,
                         -2.3 * size, -2.6 * size);
    default:
      return fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}m0 {3:.1f}l{3:.1f} {2:.1f}\" fill=\"none\" stroke-width=\"1.6\"/>",
          x - size, y - size, 2 * size, -2 * size);
  }
}

std::string text_at(const Place& at, std::string_view anchor, std::string_view text, std::string_view more = "") {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"chart-text\" fill=\"currentColor\" {}>{}</text>\n",
      at.x, at.y, anchor, more, chart_text(text));
}

std::string straight(std::string_view kind, const Place& from, const Place& to, std::string_view more) {
  return fmt::format(
      "<line class=\"chart-{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" {}/>\n",
      kind, from.x, from.y, to.x, to.y, more);
}

constexpr std::string_view kGridStroke = "stroke-opacity=\"0.15\"", kSmall = "font-size=\"10\"";

// The frame of a chart of lines: scales, axes with ticks, and titles of axes.
class Plot {
 public:
  Plot(Scale x, Scale y, double top, double height)
      : x_(std::move(x)), y_(std::move(y)), top_(top), bottom_(top + height) {}

  Place at(double x, double y) const {
    return {kPlotLeft + (kPlotRight - kPlotLeft) * x_.place(x), bottom_ - (bottom_ - top_) * y_.place(y)};
  }
  double bottom() const { return bottom_; }

  std::string frame(const std::string& x_title, const std::string& y_title) const {
    std::string text;
    double last = -1e9;  // where the label before ended
    for (const auto tick : x_.ticks()) {
      const auto x = at(tick, 0).x;
      if (x < kPlotLeft - 0.1 || x > kPlotRight + 0.1) continue;
      text += straight("grid", {x, top_}, {x, bottom_}, kGridStroke);
      const auto label = tick_label(tick);
      const auto half = kLetterWidth * letters_of(label) / 2;
      if (x - half < last + 3) continue;
      text += text_at({std::min(x, kChartWidth - half), bottom_ + 14}, "middle", label, kSmall);
      last = x + half;
    }
    for (const auto tick : y_.ticks()) {
      const auto y = bottom_ - (bottom_ - top_) * y_.place(tick);
      if (y < top_ - 0.1 || y > bottom_ + 0.1) continue;
      text += straight("grid", {kPlotLeft, y}, {kPlotRight, y}, kGridStroke);
      text += text_at({kPlotLeft - 6, y + 3.5}, "end", tick_label(tick), kSmall);
    }
    text += straight("axis", {kPlotLeft, bottom_}, {kPlotRight, bottom_}, "stroke-opacity=\"0.7\"");
    text += straight("axis", {kPlotLeft, top_}, {kPlotLeft, bottom_}, "stroke-opacity=\"0.7\"");
    text += text_at({(kPlotLeft + kPlotRight) / 2, bottom_ + 30}, "middle", x_title);
    const auto middle = (top_ + bottom_) / 2;
    text += text_at({12, middle}, "middle", y_title, fmt::format("transform=\"rotate(-90 12 {:.1f})\"", middle));
    return text;
  }

 private:
  Scale x_, y_;
  double top_, bottom_;
};

std::string document_of(const std::string& title, const std::string& description, double width, double height,
                        const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"11\">\n<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
      width, height, chart_text(title), chart_text(description), body);
}

// How line number `index` is drawn.
struct LineStyle {
  explicit LineStyle(std::size_t index)
      : series(index % kColours.size()),
        colour(kColours[series]),
        dash(kDashes[index % kDashes.size()]),
        shape(index) {}

  std::size_t series;
  std::string_view colour, dash;
  std::size_t shape;

  std::string open(double width, double opacity) const {
    return fmt::format("<g class=\"series series-{}\" stroke=\"{}\" fill=\"{}\" stroke-width=\"{}\" opacity=\"{}\">\n",
                       series, colour, colour, width, opacity);
  }
};

std::string drawn_line(const ChartLine& line, const Plot& plot, const Scale& x, const Scale& y, std::size_t index) {
  const bool faint = line.weight == LineWeight::kFaint, strong = line.weight == LineWeight::kStrong;
  const LineStyle style(index);
  auto text = style.open(strong ? 3 : faint ? 1 : 1.8, faint ? 0.45 : 1);
  std::vector<Place> places;
  std::string path;
  bool joined = false;
  for (const auto& point : line.points) {
    if (!x.shows(point.x) || !y.shows(point.y)) {
      joined = false;
      continue;
    }
    places.push_back(plot.at(point.x, point.y));
    path += fmt::format("{}{:.1f} {:.1f}", joined ? "L" : "M", places.back().x, places.back().y);
    joined = true;
  }
  text += fmt::format("<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-dasharray=\"{}\"/>\n", path,
                      strong || faint ? "none" : style.dash);
  if (!faint) {
    // Many markers hide a line; different lines have theirs in different places.
    constexpr std::size_t kMostMarkers = 24;
    const auto every = std::max<std::size_t>(1, places.size() / kMostMarkers);
    for (std::size_t place = index % every; place < places.size(); place += every) {
      text += marker(style.shape, places[place], strong ? 3.6 : 3) + "\n";
    }
  }
  return text + "</g>\n";
}

// What each line is called, in as many rows as it takes.
class Legend {
 public:
  explicit Legend(double top) : y_(top) {}

  void add(const std::string& name, const std::string& sample) {
    constexpr double kSample = 30, kBetween = 14;
    const auto shown = printable(name);
    const auto width = kSample + 4 + kLetterWidth * letters_of(shown) + kBetween;
    if (x_ > kLegendLeft && x_ + width > kChartWidth) {
      x_ = kLegendLeft;
      y_ += kRow;
    }
    text_ += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", x_, y_, sample);
    text_ += text_at({x_ + kSample + 4, y_ + 4}, "start", name);
    x_ += width;
  }
  const std::string& text() const { return text_; }
  double bottom() const { return text_.empty() ? y_ - kRow / 2 : y_ + kRow / 2; }

 private:
  static constexpr double kRow = 17, kLegendLeft = 8;
  double x_ = kLegendLeft, y_;
  std::string text_;
};

}  // namespace

std::vector<double> linear_ticks(double low, double high) {
  constexpr double kWanted = 5;
  const auto rough = (high - low) / kWanted, power = std::pow(10, std::floor(std::log10(rough)));
  const auto share = rough / power;
  const auto step = power * (share <= 1.01 ? 1 : share <= 2.01 ? 2 : share <= 5.01 ? 5 : 10);
  std::vector<double> ticks;
  for (auto number = std::ceil(low / step - 1e-9); number * step <= high + 1e-9 * step; ++number) {
    ticks.push_back(number == 0 ? 0 : number * step);
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high) {
  constexpr double kManyTimes = 300, kRounding = 1 + 1e-9;
  const auto factors = high / low > kManyTimes ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
  std::vector<double> ticks;
  for (auto exponent = std::floor(std::log10(low)); std::pow(10, exponent) <= high * kRounding; ++exponent) {
    for (const auto factor : factors) {
      const auto tick = factor * std::pow(10, exponent);
      if (tick * kRounding >= low && tick <= high * kRounding) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::string to_svg(const LineChart& chart) {
  Scale x(chart.x), y(chart.y);
  for (const auto& line : chart.lines) {
    for (const auto& point : line.points) {
      if (!std::isfinite(point.y)) continue;
      x.cover(point.x);
      y.cover(point.y);
    }
  }
  for (const auto& band : chart.bands) {
    for (const auto& slice : band.slices) {
      y.cover(slice.low);
      y.cover(slice.high);
    }
  }
  for (const auto& mark : chart.marks) x.cover(mark.x);
  x.settle(/*to_ticks=*/false);
  y.settle(/*to_ticks=*/true);
  const Plot plot(x, y, kPlotTop, kPlotHeight);
  auto body = plot.frame(chart.x.title, chart.y.title);
  double free = -1e9;  // where words of marks are not in each other's way
  for (const auto& mark : chart.marks) {
    const auto at = plot.at(mark.x, 0).x;
    body +=
        straight("mark", {at, kPlotTop - 6}, {at, plot.bottom()}, "stroke-opacity=\"0.55\" stroke-dasharray=\"1 3\"");
    const auto width = kLetterWidth * letters_of(printable(mark.name));
    if (at < free || at + width > kChartWidth) continue;
    body += text_at({at + 2, kPlotTop - 9}, "start", mark.name, kSmall);
    free = at + width + 4;
  }
  Legend legend(plot.bottom() + 48);
  std::size_t index = 0;
  for (const auto& band : chart.bands) {
    const LineStyle style(index);
    std::string upper, lower;
    for (const auto& slice : band.slices) {
      if (!x.shows(slice.x) || !y.shows(slice.low) || !y.shows(slice.high)) continue;
      const auto high = plot.at(slice.x, slice.high), low = plot.at(slice.x, slice.low);
      upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", high.x, high.y);
      lower.insert(0, fmt::format("L{:.1f} {:.1f}", low.x, low.y));
    }
    if (upper.empty()) continue;
    body += fmt::format(
        "<path class=\"chart-band series-{}\" d=\"{}{}z\" fill=\"{}\" fill-opacity=\"0.2\" stroke=\"none\"/>\n",
        style.series, upper, lower, style.colour);
    legend.add(band.name, fmt::format("<path class=\"chart-band series-{}\" d=\"M2 -5h24v10h-24z\" fill=\"{}\" "
                                      "fill-opacity=\"0.2\" stroke=\"none\"/>",
                                      style.series, style.colour));
  }
  for (const auto& line : chart.lines) {
    body += drawn_line(line, plot, x, y, index);
    if (line.weight != LineWeight::kFaint) {
      const LineStyle style(index);
      const bool strong = line.weight == LineWeight::kStrong;
      legend.add(line.name, style.open(strong ? 3 : 1.8, 1) +
                                fmt::format("<path d=\"M0 0h28\" fill=\"none\" stroke-dasharray=\"{}\"/>{}</g>",
                                            strong ? "none" : style.dash, marker(style.shape, {14, 0})));
    }
    ++index;
  }
  return document_of(chart.title, chart.description, kChartWidth, legend.bottom() + 4, body + legend.text());
}

std::string to_svg(const ReliabilityChart& chart) {
  constexpr double kCountsHeight = 46, kBetween = 44;
  Scale share({.title = "", .low = 0, .high = 1}), counts({.title = "", .low = 0});
  std::int64_t examples = 0, most = 1;
  for (const auto& bin : chart.bins) {
    examples += bin.examples;
    most = std::max(most, bin.examples);
  }
  counts.cover(static_cast<double>(most));
  share.settle(/*to_ticks=*/true);
  counts.settle(/*to_ticks=*/true);
  const Plot plot(share, share, 10, kPlotHeight), below(share, counts, 10 + kPlotHeight + kBetween, kCountsHeight);
  auto body = plot.frame("confidence of the model", "share that is right");
  const auto box = [](const Plot& where, double low, double high, double value) {
    const auto corner = where.at(low, value), end = where.at(high, 0);
    return fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", corner.x + 1, corner.y,
                       std::max(0.0, end.x - corner.x - 2), end.y - corner.y);
  };
  const auto from = plot.at(0, 0), to = plot.at(1, 1);
  std::string bars, points, heights;
  for (const auto& bin : chart.bins) {
    if (bin.examples == 0) continue;
    bars += fmt::format("<rect class=\"chart-bar\" {} fill=\"currentColor\" fill-opacity=\"0.18\"/>\n",
                        box(plot, bin.low, bin.high, bin.right));
    points += marker(0, plot.at(bin.confidence, bin.right), 4) + "\n";
    heights += fmt::format("<rect class=\"chart-bar\" {} fill=\"currentColor\" fill-opacity=\"0.45\"/>\n",
                           box(below, bin.low, bin.high, static_cast<double>(bin.examples)));
  }
  body += bars + straight("diagonal", from, to, "stroke-dasharray=\"6 4\" stroke-width=\"1.2\"");
  body += LineStyle(0).open(1, 1) + points + "</g>\n";
  body += below.frame("confidence of the model", "examples") + heights;
  Legend legend(below.bottom() + 48);
  legend.add("means of a bin", LineStyle(0).open(1, 1) + marker(0, {14, 0}, 4) + "</g>");
  legend.add("perfectly calibrated",
             "<path d=\"M0 0h28\" class=\"chart-diagonal\" stroke=\"currentColor\" stroke-dasharray=\"6 4\"/>");
  return document_of(chart.title, chart.description, kChartWidth, legend.bottom() + 4, body + legend.text());
}

std::string to_svg(const ConfusionChart& chart) {
  constexpr double kLargestCell = 36, kTop = 34, kRightEdge = 436;
  double longest = 1;
  for (const auto& value : chart.values) longest = std::max(longest, letters_of(printable(value)));
  const auto left = 24 + kLetterWidth * std::min(longest, 14.0) + 4;
  const auto side = std::min(kLargestCell, (kRightEdge - left) / static_cast<double>(chart.values.size()));
  std::string body;
  for (std::size_t truth = 0; truth < chart.values.size(); ++truth) {
    const auto& row = chart.counts[truth];
    double all = 0;
    for (const auto count : row) all += static_cast<double>(count);
    const auto y = kTop + side * static_cast<double>(truth);
    body += text_at({left - 6, y + side / 2 + 4}, "end", chart.values[truth]);
    for (std::size_t read = 0; read < row.size(); ++read) {
      const auto x = left + side * static_cast<double>(read);
      // The root, because the few that are read wrong are what one looks for.
      const auto shade = all == 0 ? 0 : 0.85 * std::sqrt(static_cast<double>(row[read]) / all);
      body += fmt::format(
          "<rect class=\"chart-cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"currentColor\" fill-opacity=\"{:.3f}\" stroke=\"currentColor\" stroke-opacity=\"0.25\"/>\n",
          x, y, side, side, shade);
      if (row[read] == 0) continue;
      const auto number = std::to_string(row[read]);
      const auto letters = std::clamp(1.6 * side / static_cast<double>(number.size()), 3.0, 10.0);
      body += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"{}\" fill=\"{}\" "
          "font-size=\"{:.1f}\">{}</text>\n",
          x + side / 2, y + side / 2 + letters / 3, shade > 0.5 ? "chart-paper" : "chart-text",
          shade > 0.5 ? "white" : "currentColor", letters, number);
    }
  }
  for (std::size_t read = 0; read < chart.values.size(); ++read) {
    const auto x = left + side * (static_cast<double>(read) + 0.5);
    body += longest * kLetterWidth < side
                ? text_at({x, kTop - 6}, "middle", chart.values[read])
                : text_at({x + 3, kTop - 6}, "start", chart.values[read],
                          fmt::format("transform=\"rotate(-35 {:.1f} {:.1f})\" font-size=\"9\"", x + 3, kTop - 6));
  }
  const auto whole = side * static_cast<double>(chart.values.size());
  body += text_at({left + whole / 2, 12}, "middle", "read as");
  body += text_at({12, kTop + whole / 2}, "middle", "true value",
                  fmt::format("transform=\"rotate(-90 12 {:.1f})\"", kTop + whole / 2));
  return document_of(chart.title, chart.description, kChartWidth, kTop + whole + 8, body);
}

}  // namespace anesi

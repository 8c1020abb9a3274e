#include "anesi/report/training_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "anesi/report/chart.h"
#include "anesi/run/summary.h"

namespace anesi {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// A number of a row, by its key or, in a nested object, "outer.inner"; not a number where there is none.
double number_in(const LogRow& row, const std::string& key) {
  const auto dot = key.find('.');
  const auto outer = row.find(key.substr(0, dot));
  if (outer == row.end()) return kNoNumber;
  if (dot != std::string::npos) return outer->is_object() ? number_in(*outer, key.substr(dot + 1)) : kNoNumber;
  return outer->is_number() ? outer->get<double>() : kNoNumber;
}

std::string phase_of(const LogRow& row) {
  const auto phase = row.find("phase");
  return phase != row.end() && phase->is_string() ? phase->get<std::string>() : "";
}

std::string split_in(const std::vector<LogRow>& log) {
  for (const auto& row : log) {
    const auto split = row.find("split");
    if (split != row.end() && split->is_string()) return split->get<std::string>();
  }
  return "test";
}

// One kind of chart: what it shows of a log.
struct Kind {
  std::string title, y_title;
  std::vector<std::string> keys;
  bool percent = false, perhaps_logarithmic = false;
};

std::vector<Kind> kinds_of(const std::string& split) {
  return {{.title = "Loss", .y_title = "mean loss of a step", .keys = {"loss", "q_loss"}, .perhaps_logarithmic = true},
          {.title = fmt::format("Accuracy on {} data", split),
           .y_title = "right (%)",
           .keys = {"symbolic", "neural", "per_variable", "decided", "believed.exact_match", "constrained.exact_match"},
           .percent = true},
          {.title = fmt::format("Negative log-likelihood of {} labels", split),
           .y_title = "nats an example",
           .keys = {"nll"},
           .perhaps_logarithmic = true}};
}

using Abscissa = std::function<double(std::size_t row)>;

std::vector<ChartPoint> points_of_log(const std::vector<LogRow>& log, const std::string& key, const Kind& kind,
                                      const Abscissa& x) {
  std::vector<ChartPoint> points;
  std::string phase;
  for (std::size_t row = 0; row < log.size(); ++row) {
    const auto value = number_in(log[row], key);
    // The loss of another phase is another loss: the line does not go on.
    if (!kind.percent && phase_of(log[row]) != phase) points.push_back({x(row), kNoNumber});
    phase = phase_of(log[row]);
    if (std::isfinite(value)) points.push_back({x(row), kind.percent ? 100 * value : value});
  }
  return points;
}

bool has_numbers(const std::vector<ChartPoint>& points) {
  return std::ranges::any_of(points, [](const ChartPoint& point) { return std::isfinite(point.y); });
}

// Whether values lie so far apart that only a logarithmic axis shows them all.
bool wants_logarithmic(const std::vector<ChartLine>& lines) {
  constexpr double kFarApart = 30;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto& line : lines) {
    for (const auto& point : line.points) {
      if (!std::isfinite(point.y)) continue;
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  return low > 0 && high > kFarApart * low;
}

// Where each phase begins: at the end of the one before.
std::vector<ChartMark> phase_marks(const std::vector<LogRow>& log, const Abscissa& x) {
  std::vector<ChartMark> marks;
  std::string phase;
  for (std::size_t row = 0; row < log.size(); ++row) {
    if (phase_of(log[row]) == phase && row > 0) continue;
    phase = phase_of(log[row]);
    marks.push_back({row == 0 ? 0 : x(row - 1), phase});
  }
  return marks;
}

nlohmann::ordered_json value_or_null(const LogRow& row, const std::string& key) {
  if (key == "phase") return phase_of(row);
  const auto value = number_in(row, key);
  if (!std::isfinite(value)) return nullptr;
  const auto plain = row.find(key);
  return plain != row.end() ? *plain : nlohmann::ordered_json(value);  // whole numbers stay whole
}

std::string description_of(const std::vector<ChartLine>& lines, const ChartAxis& x) {
  std::string text;
  for (const auto& line : lines) {
    const ChartPoint* last = nullptr;
    for (const auto& point : line.points) {
      if (std::isfinite(point.y)) last = &point;
    }
    if (last != nullptr) text += fmt::format("{}{} ends at {:.4g}", text.empty() ? "" : "; ", line.name, last->y);
  }
  return fmt::format("Lines over {}. {}.", x.title, text);
}

// How many epochs are over at each row, in all phases so far.
std::vector<double> epochs_so_far(const std::vector<LogRow>& log) {
  std::vector<double> result;
  double before = 0, now = 0;
  std::string phase;
  for (const auto& row : log) {
    if (phase_of(row) != phase) before = now;
    phase = phase_of(row);
    const auto epoch = number_in(row, "epoch");
    now = before + (std::isfinite(epoch) ? epoch : 0);
    result.push_back(now);
  }
  return result;
}

bool evaluated_alike(const std::vector<NamedLog>& runs) {
  const auto& first = runs[0].log;
  const auto alike = [&](const NamedLog& run) {
    return std::ranges::equal(run.log, first, [](const LogRow& one, const LogRow& other) {
      return phase_of(one) == phase_of(other) && number_in(one, "epoch") == number_in(other, "epoch");
    });
  };
  return !first.empty() && epochs_so_far(first).back() > 0 && std::ranges::all_of(runs, alike);
}

// The mean of several lines, point by point, and one standard deviation around it.
void add_mean(LineChart& chart) {
  ChartLine mean{.name = "mean", .points = {}, .weight = LineWeight::kStrong};
  ChartBand band{.name = "± one standard deviation", .slices = {}};
  for (std::size_t place = 0; place < chart.lines[0].points.size(); ++place) {
    Summary summary;
    for (const auto& line : chart.lines) summary.values.push_back(line.points[place].y);
    const auto x = chart.lines[0].points[place].x, middle = summary.mean(), deviation = summary.deviation();
    mean.points.push_back({x, middle});
    band.slices.push_back({x, middle - deviation, middle + deviation});
  }
  chart.lines.insert(chart.lines.begin(), std::move(mean));
  chart.bands.push_back(std::move(band));
}

TrainingChart overlaid(const std::vector<NamedLog>& runs, const std::string& title, const std::string& key,
                       const Kind& kind, bool alike) {
  constexpr std::size_t kMostNamed = 10;
  TrainingChart result{
      .title = title, .svg = {}, .table = {{"run", "phase", "epoch", "seconds", figure_words(key)}, {}}};
  LineChart chart{.title = title,
                  .x = {.title = alike ? "epochs, in all phases" : "training time (s)", .low = 0, .whole = alike},
                  .y = {.title = kind.y_title}};
  for (const auto& [name, log] : runs) {
    const auto epochs = epochs_so_far(log);
    const Abscissa x = [&](std::size_t row) { return alike ? epochs[row] : number_in(log[row], "seconds"); };
    chart.lines.push_back({.name = name,
                           .points = points_of_log(log, key, kind, x),
                           .weight = runs.size() > kMostNamed ? LineWeight::kFaint : LineWeight::kUsual});
    for (const auto& row : log) {
      if (!std::isfinite(number_in(row, key))) continue;
      result.table.rows.push_back(
          {name, phase_of(row), value_or_null(row, "epoch"), value_or_null(row, "seconds"), value_or_null(row, key)});
    }
  }
  const auto same_places = [&](const ChartLine& line) { return line.points.size() == chart.lines[0].points.size(); };
  if (alike && std::ranges::all_of(chart.lines, same_places)) add_mean(chart);
  chart.y.logarithmic = kind.perhaps_logarithmic && wants_logarithmic(chart.lines);
  if (chart.y.logarithmic) chart.y.title += ", logarithmic";
  chart.description = description_of(chart.lines, chart.x);
  result.svg = to_svg(chart);
  return result;
}

}  // namespace

std::string figure_words(const std::string& key) {
  static const std::map<std::string, std::string> kWords{
      {"loss", "loss of perception"},
      {"q_loss", "loss of q"},
      {"per_variable", "per variable"},
      {"ms_per_query", "time a query"},
      {"nll", "negative log-likelihood"},
      {"ece", "calibration error"},
      {"believed.exact_match", "exact match"},
      {"constrained.exact_match", "exact match under the constraint"},
      {"labels_right", "explained labels right"},
      {"seconds", "training time"}};
  const auto known = kWords.find(key);
  if (known != kWords.end()) return known->second;
  auto words = key;
  std::ranges::replace(words, '_', ' ');
  const auto dot = words.find('.');
  return dot == std::string::npos ? words
                                  : fmt::format("{}, {}", words.substr(0, dot), figure_words(key.substr(dot + 1)));
}

std::vector<TrainingChart> training_charts(const std::vector<LogRow>& log) {
  const Abscissa seconds = [&](std::size_t row) { return number_in(log[row], "seconds"); };
  std::vector<TrainingChart> charts;
  for (const auto& kind : kinds_of(split_in(log))) {
    LineChart chart{.title = kind.title,
                    .x = {.title = "training time (s)", .low = 0},
                    .y = {.title = kind.y_title},
                    .marks = phase_marks(log, seconds)};
    std::vector<std::string> columns{"phase", "epoch", "step", "seconds"}, keys = columns;
    for (const auto& key : kind.keys) {
      auto points = points_of_log(log, key, kind, seconds);
      if (!has_numbers(points)) continue;
      chart.lines.push_back({.name = figure_words(key), .points = std::move(points)});
      columns.push_back(figure_words(key));
      keys.push_back(key);
    }
    if (chart.lines.empty()) continue;
    chart.y.logarithmic = kind.perhaps_logarithmic && wants_logarithmic(chart.lines);
    if (chart.y.logarithmic) chart.y.title += ", logarithmic";
    chart.description = description_of(chart.lines, chart.x);
    TrainingChart result{.title = kind.title, .svg = to_svg(chart), .table = {std::move(columns), {}}};
    for (const auto& row : log) {
      std::vector<nlohmann::ordered_json> cells;
      for (const auto& key : keys) cells.push_back(value_or_null(row, key));
      result.table.rows.push_back(std::move(cells));
    }
    charts.push_back(std::move(result));
  }
  return charts;
}

std::vector<TrainingChart> overlaid_charts(const std::vector<NamedLog>& runs) {
  std::vector<TrainingChart> charts;
  if (runs.empty()) return charts;
  const bool alike = evaluated_alike(runs);
  const auto split = split_in(runs[0].log);
  for (const auto& kind : kinds_of(split)) {
    // The headline alone: six lines of each of ten runs could not be told apart.
    const std::string key = kind.percent ? "accuracy" : kind.keys[0];
    const bool there = std::ranges::any_of(runs, [&](const NamedLog& run) {
      return std::ranges::any_of(run.log, [&](const LogRow& row) { return std::isfinite(number_in(row, key)); });
    });
    if (there) charts.push_back(overlaid(runs, kind.title, key, kind, alike));
  }
  return charts;
}

}  // namespace anesi

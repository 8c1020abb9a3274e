#include "anesi/discover/drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/io/svg.h"

namespace anesi {
namespace {

constexpr std::size_t kMostStepsDrawn = 12, kMostStatesDrawn = 24;
constexpr std::size_t kEntriesOfALabel = 3, kRangesOfAnEntry = 5;
// In pixels.
constexpr double kRadius = 11, kRowHeight = 38, kLetter = 5.6, kLabelHeight = 13;
constexpr double kAbove = 96, kBelow = 44, kMargin = 34, kNarrowestGap = 110, kWidestGap = 420, kGapOfDots = 60;

using States = std::vector<std::int64_t>;  // in ascending order

// Before each step, and after the last one.
std::vector<States> reached_states(const Automaton& automaton) {
  std::vector<States> reached{{automaton.start()}};
  for (const auto& step : automaton.reading().steps()) {
    const auto combinations = automaton.reading().kind(step.kind).combinations();
    std::set<std::int64_t> next;
    for (const auto state : reached.back()) {
      for (std::int64_t read = 0; read < combinations; ++read) next.insert(automaton.move(step.kind, read, state).next);
    }
    reached.emplace_back(next.begin(), next.end());
  }
  return reached;
}

// How many of the first steps to draw: all of them or, where those are too many, as many as show what a step of each
// kind does in each state. The last step is drawn in any case.
std::size_t first_steps(const Automaton& automaton, const std::vector<States>& reached) {
  const auto& steps = automaton.reading().steps();
  if (steps.size() <= kMostStepsDrawn) return steps.size();
  using KindAndState = std::pair<std::int64_t, std::int64_t>;
  const auto visit = [&](std::size_t step, const auto& action) {
    for (const auto state : reached[step]) action(KindAndState(steps[step].kind, state));
  };
  std::set<KindAndState> missing;
  for (std::size_t step = 0; step < steps.size(); ++step)
    visit(step, [&](const KindAndState& one) { missing.insert(one); });
  visit(steps.size() - 1, [&](const KindAndState& one) { missing.erase(one); });
  std::size_t drawn = 0;
  for (; drawn < kMostStepsDrawn - 1 && !missing.empty(); ++drawn)
    visit(drawn, [&](const KindAndState& one) { missing.erase(one); });
  return drawn;
}

// "0-4, 7"; combinations of several variables one by one, "0 4, 1 3".
std::string values_text(const std::vector<std::int64_t>& combinations, const std::vector<std::int64_t>& domains) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, last = 0; first < combinations.size(); first = ++last) {
    if (parts.size() == kRangesOfAnEntry) {
      parts.emplace_back("…");
      break;
    }
    if (domains.size() == 1) {
      while (last + 1 < combinations.size() && combinations[last + 1] == combinations[last] + 1) ++last;
      if (last == first + 1) last = first;  // two values are no range
      parts.push_back(first == last ? fmt::format("{}", combinations[first])
                                    : fmt::format("{}-{}", combinations[first], combinations[last]));
      continue;
    }
    std::vector<std::int64_t> values(domains.size());
    auto rest = combinations[first];
    for (auto variable = domains.size(); variable-- > 0; rest /= domains[variable])
      values[variable] = rest % domains[variable];
    parts.push_back(fmt::format("{}", fmt::join(values, " ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Edge {
  std::int64_t from, to;
  std::string label;
};

std::vector<Edge> edges_of(const Automaton& automaton, const ReadingStep& step, const States& states) {
  const auto& kind = automaton.reading().kind(step.kind);
  // By where they lead: the combinations of values read, by what is emitted.
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, std::vector<std::int64_t>>> groups;
  for (const auto state : states) {
    for (std::int64_t read = 0; read < kind.combinations(); ++read) {
      const auto move = automaton.move(step.kind, read, state);
      groups[{state, move.next}][move.emits].push_back(read);
    }
  }
  std::vector<Edge> edges;
  for (const auto& [ends, emissions] : groups) {
    std::vector<std::string> entries;
    for (const auto& [emitted, read] : emissions) {
      if (entries.size() == kEntriesOfALabel) {
        entries.emplace_back("…");
        break;
      }
      auto entry = step.reads.empty() ? std::string() : values_text(read, kind.read_domains);
      if (step.emits) entry += fmt::format("{}/ {}", entry.empty() ? "" : " ", emitted);
      entries.push_back(std::move(entry));
    }
    edges.push_back({ends.first, ends.second, fmt::format("{}", fmt::join(entries, "; "))});
  }
  return edges;
}

double width_of(const std::string& text) { return kLetter * letters_of(text); }

struct Point {
  double x, y;
};

class Drawing {
 public:
  Drawing(const Automaton& automaton, const DrawingWords& words)
      : automaton_(automaton), words_(words), reached_(reached_states(automaton)) {}

  std::string draw() {
    const auto& steps = automaton_.reading().steps();
    const auto first = first_steps(automaton_, reached_);
    const bool all = first == steps.size();
    check_columns(first, all);
    draw_column(0);
    for (std::size_t step = 0; step < first; ++step) draw_step(step);
    if (!all) {
      draw_dots(steps.size() - 1 - first);
      draw_column(steps.size() - 1);
      draw_step(steps.size() - 1);
    }
    return document();
  }

 private:
  void check_columns(std::size_t first, bool all) {
    for (std::size_t column = 0; column < reached_.size(); ++column) {
      if (column > first && !all && column + 2 < reached_.size()) continue;
      const auto states = reached_[column].size();
      if (states > kMostStatesDrawn) {
        throw UsageError(fmt::format("cannot be drawn: {} states after {} steps, and a picture has room for {}", states,
                                     column, kMostStatesDrawn));
      }
      tallest_ = std::max(tallest_, states);
    }
  }

  // Columns are centred.
  Point place(std::size_t column, std::int64_t state) const {
    const auto& states = reached_[column];
    const auto row = static_cast<double>(std::ranges::lower_bound(states, state) - states.begin());
    const auto free = static_cast<double>(tallest_ - states.size());
    return {x_, kAbove + kRowHeight * (row + 0.5 + free / 2)};
  }

  void draw_column(std::size_t column) {
    for (const auto state : reached_[column]) {
      const auto [x, y] = place(column, state);
      circles_ +=
          fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}'/><text x='{:.1f}' y='{:.1f}' class='state'>{}</text>\n",
                      x, y, kRadius, x, y + 4, state);
    }
  }

  void draw_step(std::size_t index) {
    const auto& step = automaton_.reading().steps()[index];
    const auto edges = edges_of(automaton_, step, reached_[index]);
    double longest = 0;
    for (const auto& edge : edges) longest = std::max(longest, width_of(edge.label));
    // Room for labels beside each other where many edges cross.
    const double crossing = edges.size() > 2 * tallest_ ? 3 : edges.size() > tallest_ ? 2 : 1;
    const auto gap = std::clamp(4 * kRadius + crossing * (longest + 12), kNarrowestGap, kWidestGap);
    std::vector<Point> from;
    for (const auto& edge : edges) from.push_back(place(index, edge.from));
    draw_heading(index, x_ + gap / 2);
    x_ += gap;
    labelled_.clear();
    for (std::size_t edge = 0; edge < edges.size(); ++edge)
      draw_edge(from[edge], place(index + 1, edges[edge].to), edges[edge].label);
    draw_column(index + 1);
  }

  void draw_heading(std::size_t index, double x) {
    const auto& step = automaton_.reading().steps()[index];
    std::vector<std::string> reads;
    for (const auto variable : step.reads)
      reads.push_back(words_.world ? words_.world(variable) : fmt::format("w{}", variable));
    const auto line = [&](double y, const char* style, const std::string& text) {
      labels_ += fmt::format("<text x='{:.1f}' y='{}' class='{}'>{}</text>\n", x, y, style, escaped_for_svg(text));
    };
    line(kAbove - 44, "name", reads.empty() ? "reads nothing" : fmt::format("reads {}", fmt::join(reads, ", ")));
    if (step.emits) {
      line(kAbove - 28, "name",
           fmt::format("emits {}", words_.output ? words_.output(*step.emits) : fmt::format("y{}", *step.emits)));
    }
    line(kAbove - 13, "kind", fmt::format("step {}, kind {}", index, step.kind));
  }

  void draw_edge(Point from, Point to, const std::string& label) {
    const auto along = [&](double share) {
      return Point{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
    };
    const auto length = std::hypot(to.x - from.x, to.y - from.y);
    const auto begin = along(kRadius / length), end = along(1 - (kRadius + 1) / length);
    lines_ += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' marker-end='url(#arrow)'/>\n", begin.x,
                          begin.y, end.x, end.y);
    const auto width = width_of(label) + 4;
    // Where on the edge, clear of the circles, the label covers the least of those that are there.
    const auto nearest = std::min(0.5, (kRadius + width / 2) / (to.x - from.x));
    constexpr std::array kShares{0.5, 0.38, 0.62, 0.26, 0.74, 0.13, 0.87, 0.0, 1.0};
    double least = -1;
    Point best{};
    for (const auto share : kShares) {
      const auto here = along(nearest + share * (1 - 2 * nearest));
      double covered = 0;
      for (const auto& [other, other_width] : labelled_) {
        const auto wide = (width + other_width) / 2 - std::abs(here.x - other.x),
                   high = kLabelHeight - std::abs(here.y - other.y);
        if (wide > 0 && high > 0) covered += wide * high;
      }
      if (least >= 0 && covered >= least) continue;
      least = covered;
      best = here;
    }
    labelled_.emplace_back(best, width);
    labels_ += fmt::format("<text x='{:.1f}' y='{:.1f}' class='label'>{}</text>\n", best.x, best.y + 4,
                           escaped_for_svg(label));
  }

  void draw_dots(std::size_t left_out) {
    const auto y = kAbove + kRowHeight * static_cast<double>(tallest_) / 2;
    labels_ += fmt::format("<text x='{:.1f}' y='{:.1f}' class='dots'>…</text>\n", x_ + kGapOfDots / 2, y + 6);
    labels_ += fmt::format("<text x='{:.1f}' y='{:.1f}' class='kind'>{} more</text>\n", x_ + kGapOfDots / 2,
                           kAbove - 13, left_out);
    x_ += kGapOfDots;
  }

  std::string document() const {
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
        "font-family='sans-serif'>\n"
        "<style>text{{text-anchor:middle}}.name{{font-size:12px}}.kind{{font-size:9px;fill:#555}}.state{{font-size:"
        "11px;fill:black;stroke:none}}"
        ".label{{font-size:10px;stroke:white;stroke-width:3px;paint-order:stroke}}.dots{{font-size:24px}}"
        ".plain{{text-anchor:start}}</style>\n"
        "<defs><marker id='arrow' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
        "<path d='M0 1 L7 4 L0 7 z'/></marker></defs>\n"
        "<rect width='{0:.0f}' height='{1:.0f}' fill='white'/>\n"
        "<text x='16' y='26' class='plain' font-size='15'>{2}</text>\n"
        "<g stroke='#555' stroke-width='0.8'>\n{3}</g>\n"
        "<g fill='white' stroke='black'>\n{4}</g>\n{5}"
        "<text x='16' y='{6:.0f}' class='plain' font-size='11' fill='#333'>circles: what may be remembered; edges: the "
        "values that are read / what is emitted</text>\n</svg>\n",
        std::max(x_ + kMargin, 480.0), kAbove + kRowHeight * static_cast<double>(tallest_) + kBelow,
        escaped_for_svg(words_.title), lines_, circles_, labels_,
        kAbove + kRowHeight * static_cast<double>(tallest_) + kBelow - 14);
  }

  const Automaton& automaton_;
  const DrawingWords& words_;
  std::vector<States> reached_;
  std::size_t tallest_ = 1;
  double x_ = kMargin;                              // of the column that was drawn last
  std::vector<std::pair<Point, double>> labelled_;  // of the step at hand: where labels are, and how wide
  std::string lines_, circles_, labels_;
};

}  // namespace

std::string draw_automaton(const Automaton& automaton, const DrawingWords& words) {
  return Drawing(automaton, words).draw();
}

}  // namespace anesi

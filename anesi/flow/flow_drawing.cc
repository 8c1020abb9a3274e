#include "anesi/flow/flow_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/io/svg.h"

namespace anesi {
namespace {

// In pixels.
constexpr double kNodeHeight = 24, kNodeLetter = 7.6, kNarrowestNode = 32, kFlowLetter = 6.2, kFlowHeight = 13;
constexpr double kTop = 96, kBottom = 60, kSide = 40, kThinnest = 0.9, kThickest = 7, kStub = 30, kStraight = 64;
constexpr std::size_t kEndsToOneSink = 4;  // of a lattice; with more of them their edges would cross everything

struct Place {
  double x = 0, y = 0, width = 0;
};

struct Box {
  double x, y, width, height;  // its centre and size

  double overlap(const Box& other) const {
    const auto wide = (width + other.width) / 2 - std::abs(x - other.x);
    const auto high = (height + other.height) / 2 - std::abs(y - other.y);
    return wide > 0 && high > 0 ? wide * high : 0;
  }
};

std::string number(double flow) {
  return flow == 0 || flow >= 0.001 ? fmt::format("{:.3g}", flow) : fmt::format("{:.0e}", flow);
}

class FlowDrawing {
 public:
  FlowDrawing(const FlowNetwork& network, const Flow& flow, const FlowWords& words)
      : network_(network), flow_(flow), words_(words), places_(network.states().size()) {
    one_sink_ = network.view() != FlowView::kLattice || network.ends().size() <= kEndsToOneSink;
    for (std::int64_t state = 0; state < network.sink(); ++state) column(at(state).depth).push_back(state);
    std::size_t most = 0;
    for (const auto& states : columns_) most = std::max(most, states.size());
    if (most > as_size(kMostFlowStatesInAColumn)) {
      throw UsageError(fmt::format("cannot be drawn: {} states in a column, and a picture has room for {}", most,
                                   kMostFlowStatesInAColumn));
    }
    row_height_ = most <= 8 ? 58 : most <= 24 ? 44 : 32;
  }

  std::string draw() {
    place_rows();
    place_columns();
    for (std::int64_t state = 0; state < network_.sink(); ++state) {
      taken_.push_back({place(state).x, place(state).y, place(state).width + 4, kNodeHeight + 4});
    }
    // What comes out first, then the strongest, so that their numbers find room.
    std::vector<std::int64_t> order(network_.actions().size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](std::int64_t action) {
      return std::pair(network_.actions()[as_size(action)].to == network_.sink(), flow_.actions[as_size(action)]);
    });
    for (const auto action : order) draw_action(action);
    for (std::int64_t state = 0; state < network_.sink(); ++state) draw_state(state);
    if (one_sink_) draw_sink();
    return document();
  }

 private:
  const FlowState& at(std::int64_t state) const { return network_.states()[as_size(state)]; }
  Place& place(std::int64_t state) { return places_[as_size(state)]; }
  std::vector<std::int64_t>& column(std::int64_t depth) {
    columns_.resize(std::max(columns_.size(), as_size(depth) + 1));
    return columns_[as_size(depth)];
  }
  bool has_whole_output(std::int64_t state) const {
    return std::ranges::find(at(state).output, kUnset) == at(state).output.end();
  }
  bool is_end(std::int64_t state) const {
    const auto& departures = at(state).departures;
    return std::ranges::any_of(
        departures, [&](std::int64_t action) { return network_.actions()[as_size(action)].to == network_.sink(); });
  }

  // What is written into a node: of a tree the last choice alone, of the others the whole set.
  std::string label(std::int64_t state) const {
    if (state == network_.source()) return "P";
    const auto outputs = words_.of_outputs(at(state));
    const auto worlds = words_.of_worlds(at(state));
    if (network_.view() == FlowView::kTree) return worlds.empty() ? outputs.back() : worlds.back();
    if (network_.view() == FlowView::kLattice) {
      if (!has_whole_output(state)) return outputs.back();
      const auto set = fmt::format("{{{}}}", fmt::join(worlds, ", "));
      return worlds.empty() ? fmt::format("{}  {}", fmt::join(outputs, " "), set) : set;
    }
    return fmt::format("{}", fmt::join(worlds.empty() ? outputs : worlds, " "));
  }

  // Higher values stand higher: "following edges upwards means setting the variable to true".
  bool stands_above(std::int64_t one, std::int64_t other) const {
    if (at(one).output != at(other).output) return at(one).output > at(other).output;
    const auto before = [](std::int64_t first, std::int64_t second) {
      const auto rank = [](std::int64_t value) { return value == kUnset ? 1 : -value; };
      return rank(first) < rank(second);
    };
    return std::ranges::lexicographical_compare(at(one).world, at(other).world, before);
  }

  void place_rows() {
    for (auto& states : columns_)
      std::ranges::stable_sort(states, [&](auto one, auto other) { return stands_above(one, other); });
    // Each output has a band of its own, as high as its largest column.
    std::map<std::vector<std::int64_t>, std::size_t, std::greater<>> rows;
    for (const auto& states : columns_) {
      std::map<std::vector<std::int64_t>, std::size_t> here;
      for (const auto state : states) {
        if (has_whole_output(state))
          rows[at(state).output] = std::max(rows[at(state).output], ++here[at(state).output]);
      }
    }
    std::map<std::vector<std::int64_t>, double> middle;
    double top = 0;
    for (const auto& [output, height] : rows) {
      middle[output] = top + row_height_ * static_cast<double>(height) / 2;
      top += row_height_ * static_cast<double>(height) + row_height_ / 4;
    }
    height_ = top;
    for (auto depth = columns_.size(); depth-- > 0;) {
      auto& states = columns_[depth];
      std::map<std::vector<std::int64_t>, double> count, next;
      for (const auto state : states) count[at(state).output] += 1;
      for (const auto state : states) {
        const auto& output = at(state).output;
        const bool spread = has_whole_output(state) && (network_.view() != FlowView::kTree || is_end(state));
        place(state).y = spread ? middle[output] + row_height_ * (next[output]++ - (count[output] - 1) / 2)
                                : mean_of_followers(state);
      }
      // Where followers draw states together, they are moved apart.
      for (std::size_t row = 1; row < states.size(); ++row) {
        place(states[row]).y = std::max(place(states[row]).y, place(states[row - 1]).y + kNodeHeight + 6);
      }
    }
    place(network_.sink()).y = place(network_.source()).y;
  }

  double mean_of_followers(std::int64_t state) {
    double sum = 0, count = 0;
    for (const auto action : at(state).departures) {
      const auto to = network_.actions()[as_size(action)].to;
      if (to == network_.sink()) continue;
      sum += place(to).y;
      count += 1;
    }
    return count > 0 ? sum / count : 0;
  }

  void place_columns() {
    double x = kSide;
    for (const auto& states : columns_) {
      double widest = 0;
      for (const auto state : states) {
        place(state).width = std::max(kNarrowestNode, kNodeLetter * letters_of(label(state)) + 18);
        widest = std::max(widest, place(state).width);
      }
      for (const auto state : states) place(state).x = x + widest / 2;
      column_x_.push_back(x + widest / 2);
      x += widest + gap_after(states);
    }
    last_x_ = column_x_.back();
    auto& sink = place(network_.sink());
    sink.x = one_sink_ ? x + kStraight : x - 60;
    sink.width = 16;
    width_ = sink.x + kSide;
  }

  // Edges that climb far want more room for their numbers.
  double gap_after(const std::vector<std::int64_t>& states) const {
    std::size_t edges = 0;
    for (const auto state : states) edges += at(state).departures.size();
    return edges <= 12 ? 110 : edges <= 40 ? 150 : 210;
  }

  const char* colour_of(std::int64_t state) const {
    return words_.stands_out && has_whole_output(state) && words_.stands_out(at(state)) ? "#1b7f79" : "#8a8f98";
  }

  void draw_action(std::int64_t index) {
    const auto& action = network_.actions()[as_size(index)];
    const auto flow = flow_.actions[as_size(index)];
    const bool stops = action.to == network_.sink();
    const auto &from = place(action.from), &to = place(action.to);
    const auto begin_x = from.x + from.width / 2;
    const auto thick = kThinnest + (kThickest - kThinnest) * std::sqrt(flow);
    const auto* const colour = colour_of(stops ? action.from : action.to);
    if (stops && !one_sink_) return draw_stub(action.from, flow, thick, colour);
    // Ends go straight on until all other columns are passed.
    const auto bend_x = stops ? std::max(begin_x + kStraight, last_x_ + kStraight) : begin_x;
    const auto end_x = to.x - to.width / 2 - 5;
    const auto pull = (end_x - bend_x) * 0.45;
    const Curve curve{bend_x, from.y, bend_x + pull, from.y, end_x - pull, to.y, end_x, to.y};
    edges_ += fmt::format(
        "<path d='M{:.1f} {:.1f} H{:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}' stroke='{}' "
        "stroke-width='{:.1f}'{}>"
        "<title>{}</title></path>\n",
        begin_x, from.y, bend_x, curve.bx, curve.by, curve.cx, curve.cy, curve.dx, curve.dy, colour, thick,
        stops ? " stroke-dasharray='5 3'" : "", number(flow));
    edges_ +=
        fmt::format("<path d='M{0:.1f} {1:.1f} l-7 -4 v8 z' fill='{2}' stroke='none'/>\n", end_x + 5, to.y, colour);
    constexpr std::array kShares{0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78};
    std::vector<Box> offered;
    for (const auto share : kShares) offered.push_back(curve.at(share, number(flow)));
    if (stops) {
      const auto width = kFlowLetter * letters_of(number(flow)) + 6;
      // Behind its state or, where it goes past other columns, half-way.
      const auto x = bend_x > begin_x + 2 * kStraight ? (begin_x + bend_x) / 2 : begin_x + 12 + width / 2;
      offered.insert(offered.begin(), {x, from.y, width, kFlowHeight});
    }
    write_number(flow, offered);
  }

  // A short way out, to a sink of its own.
  void draw_stub(std::int64_t state, double flow, double thick, const char* colour) {
    const auto& from = place(state);
    const auto x = from.x + from.width / 2 - 8, y = from.y + kNodeHeight / 2;
    edges_ += fmt::format(
        "<path d='M{0:.1f} {1:.1f} l{2} {3}' stroke='{4}' stroke-width='{5:.1f}' stroke-dasharray='3 "
        "2'><title>{6}</title>"
        "</path><rect x='{7:.1f}' y='{8:.1f}' width='6' height='6' fill='#333' stroke='none'/>\n",
        x, y, kStub / 3, kStub / 4, colour, thick, number(flow), x + kStub / 3, y + kStub / 4 - 2);
    const auto width = kFlowLetter * letters_of(number(flow)) + 6;
    write_number(flow, {{x + kStub / 3 + 10 + width / 2, y + kStub / 4 + 1, width, kFlowHeight}});
  }

  struct Curve {
    double ax, ay, bx, by, cx, cy, dx, dy;

    Box at(double share, const std::string& text) const {
      const auto t = share, s = 1 - share;
      const auto blend = [&](double a, double b, double c, double d) {
        return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
      };
      return {blend(ax, bx, cx, dx), blend(ay, by, cy, dy), kFlowLetter * letters_of(text) + 6, kFlowHeight};
    }
  };

  // Where it covers nothing; nowhere, if there is no such place.
  void write_number(double flow, const std::vector<Box>& offered) {
    for (const auto& box : offered) {
      if (std::ranges::any_of(taken_, [&](const Box& other) { return box.overlap(other) > 0; })) continue;
      taken_.push_back(box);
      numbers_ += fmt::format(
          "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' rx='4'/><text x='{:.1f}' y='{:.1f}' "
          "class='flow'>{}</text>\n",
          box.x - box.width / 2 + 1, box.y - box.height / 2, box.width - 2, box.height, box.x, box.y + 4, number(flow));
      return;
    }
    all_numbers_ = false;
  }

  void draw_state(std::int64_t state) {
    const auto& [x, y, width] = place(state);
    const bool end = is_end(state), whole = has_whole_output(state);
    const bool out = whole && words_.stands_out && words_.stands_out(at(state));
    const auto* const fill = state == network_.source() ? "#f2efe6"
                             : out                      ? (end ? "#bfe6dd" : "#eaf6f3")
                             : end                      ? "#e3e5e9"
                                                        : "white";
    const auto box = [&](double inset, const char* with) {
      return fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' rx='{:.1f}' fill='{}'/>",
                         x - width / 2 + inset, y - kNodeHeight / 2 + inset, width - 2 * inset, kNodeHeight - 2 * inset,
                         kNodeHeight / 2 - inset, with);
    };
    nodes_ += fmt::format("<g stroke='{}'>{}{}<title>{}: {:.6g}</title></g>", out ? "#12615c" : "#444", box(0, fill),
                          end ? box(3, "none") : "", escaped_for_svg(describe_state(network_, state, words_)),
                          flow_.states[as_size(state)]);
    nodes_ +=
        fmt::format("<text x='{:.1f}' y='{:.1f}' class='node'>{}</text>\n", x, y + 4.5, escaped_for_svg(label(state)));
  }

  void draw_sink() {
    const auto& [x, y, width] = place(network_.sink());
    nodes_ += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{}' height='{}' fill='#333'/>\n", x - width / 2, y - 8,
                          width, 16);
  }

  // What is chosen on the way to a column.
  std::string heading(std::size_t depth) const {
    const auto outputs = as_size(network_.outputs().variables());
    if (depth == 0) return "beliefs";
    if (depth <= outputs) return "output";
    const auto chosen = depth - outputs;
    if (network_.view() == FlowView::kTree) return fmt::format("choice {}", chosen);
    return fmt::format("{} {}", chosen, network_.view() == FlowView::kLattice ? "in the set" : "chosen");
  }

  std::string document() {
    std::string headings;
    for (std::size_t depth = 0; depth < columns_.size(); ++depth) {
      headings +=
          fmt::format("<text x='{:.1f}' y='{}' class='head'>{}</text>\n", column_x_[depth], kTop - 26, heading(depth));
    }
    if (one_sink_)
      headings +=
          fmt::format("<text x='{:.1f}' y='{}' class='head'>sink</text>\n", place(network_.sink()).x, kTop - 26);
    const auto note =
        fmt::format("{} nodes and {}; numbers: what flows, of 1 in all; two outlines: a world comes out{}{}",
                    network_.nodes(), one_sink_ ? "the sink" : "a sink, drawn as small squares",
                    words_.stands_out ? "; green: the output asked for" : "",
                    all_numbers_ ? "" : "; where there is no number, point at the edge");
    const auto wide = std::max(width_, 6.2 * letters_of(note) + 40);
    const auto high = kTop + height_ + kBottom;
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
        "font-family='sans-serif'>\n<style>text{{text-anchor:middle}}.node{{font-size:13px;fill:#111}}"
        ".flow{{font-size:11px;fill:#111}}"
        ".head{{font-size:11px;fill:#777}}.plain{{text-anchor:start}}</style>\n"
        "<rect width='{0:.0f}' height='{1:.0f}' fill='white'/>\n"
        "<text x='24' y='34' class='plain' font-size='16'>{2}</text>\n{3}"
        "<g transform='translate(0 {4})'>\n<g fill='none'>\n{5}</g>\n<g stroke-width='1.1'>\n{6}</g>\n<g "
        "fill='white'>\n{7}</g>\n</g>\n"
        "<text x='24' y='{8:.0f}' class='plain' font-size='12' fill='#555'>{9}</text>\n</svg>\n",
        wide, high, escaped_for_svg(words_.title), headings, kTop, edges_, nodes_, numbers_, high - 20, note);
  }

  const FlowNetwork& network_;
  const Flow& flow_;
  const FlowWords& words_;
  std::vector<Place> places_;  // of states
  bool one_sink_ = true;
  std::vector<std::vector<std::int64_t>> columns_;  // states by depth, from top to bottom
  std::vector<double> column_x_;
  double row_height_ = 0, height_ = 0, width_ = 0, last_x_ = 0;
  std::vector<Box> taken_;  // by nodes and numbers
  bool all_numbers_ = true;
  std::string edges_, nodes_, numbers_;
};

}  // namespace

std::string draw_flow(const FlowNetwork& network, const Flow& flow, const FlowWords& words) {
  return FlowDrawing(network, flow, words).draw();
}

}  // namespace anesi

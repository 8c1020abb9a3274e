#include "anesi/cli/rollout_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/io/svg.h"

namespace anesi::cli {
namespace {

constexpr int kColumn = 96, kRow = 34, kBox = 26, kWidth = 62, kTop = 74, kLeft = 36;

int centre_of(std::int64_t value) { return kTop + static_cast<int>(value) * kRow + kBox / 2; }

}  // namespace

std::string rollout_svg(const std::vector<RecordedStep>& steps, const std::string& title) {
  std::size_t most = 1;
  for (const auto& step : steps) most = std::max(most, step.probabilities.size());
  const auto width = kLeft + static_cast<int>(steps.size()) * kColumn + 24,
             height = kTop + static_cast<int>(most) * kRow + 46;
  std::string lines, boxes;
  int from_x = kLeft - 18, from_y = centre_of(static_cast<std::int64_t>(most) / 2);
  boxes += fmt::format("<circle cx='{}' cy='{}' r='6' fill='#222'/>\n", from_x, from_y);
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const auto& step = steps[index];
    const auto x = kLeft + static_cast<int>(index) * kColumn + 14;
    const auto* const colour = step.output ? "#1f6fb4" : "#c26a00";
    boxes += fmt::format(
        "<text x='{}' y='{}' class='name' fill='{}'>{}<tspan baseline-shift='sub' font-size='10'>{}</tspan></text>\n",
        x + kWidth / 2, kTop - 14, colour, step.output ? "y" : "w", step.variable + 1);
    for (std::size_t value = 0; value < step.probabilities.size(); ++value) {
      const auto probability = step.probabilities[value];
      const bool chosen = static_cast<std::int64_t>(value) == step.chosen, allowed = step.allowed[value];
      const auto y = centre_of(static_cast<std::int64_t>(value));
      if (allowed) {
        lines +=
            fmt::format("<path d='M{} {} C{} {} {} {} {} {}' stroke='{}' stroke-width='{:.1f}' opacity='{:.2f}'/>\n",
                        from_x, from_y, from_x + 16, from_y, x - 16, y, x, y, chosen ? colour : "#999",
                        chosen ? 2.5 : 1.0, chosen ? 1.0 : 0.15 + 0.7 * probability);
      }
      boxes += fmt::format(
          "<rect x='{}' y='{}' width='{}' height='{}' rx='5' fill='{}' fill-opacity='{:.2f}' stroke='{}' "
          "stroke-width='{}'/>\n",
          x, y - kBox / 2, kWidth, kBox, allowed ? colour : "#ddd", allowed ? 0.08 + 0.6 * probability : 0.5,
          chosen ? colour : "#bbb", chosen ? 2 : 1);
      boxes += fmt::format("<text x='{}' y='{}' class='value'{}>{}</text><text x='{}' y='{}' class='share'>{}</text>\n",
                           x + 12, y + 5, allowed ? "" : " fill='#999'", value, x + kWidth - 5, y + 4,
                           probability >= 0.9995  ? "100 %"
                           : probability >= 0.001 ? fmt::format("{:.1f} %", 100 * probability)
                                                  : "&lt;0.1 %");
      if (!allowed) {
        boxes += fmt::format("<line x1='{}' y1='{}' x2='{}' y2='{}' stroke='#b22' stroke-width='1.6'/>\n", x - 3,
                             y + kBox / 2 - 3, x + kWidth + 3, y - kBox / 2 + 3);
      }
    }
    from_x = x + kWidth;
    from_y = centre_of(step.chosen);
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "font-family='sans-serif'>\n"
      "<style>.name{{font-size:15px;text-anchor:middle;font-style:italic}}.value{{font-size:14px;text-anchor:middle}}"
      ".share{{font-size:9px;text-anchor:end;fill:#444}}</style>\n"
      "<rect width='{0}' height='{1}' fill='white'/>\n<text x='{2}' y='26' font-size='16'>{3}</text>\n"
      "<g fill='none'>\n{4}</g>\n{5}"
      "<text x='{2}' y='{6}' font-size='11' fill='#555'>outputs y, then worlds w; shares are the model's own; a "
      "struck-out "
      "value has no completion</text>\n</svg>\n",
      std::max(width, 520), height, kLeft - 18, escaped_for_svg(title), lines, boxes, height - 14);
}

}  // namespace anesi::cli

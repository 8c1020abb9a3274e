#include "anesi/cli/bench_divergences.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/cli/command.h"
#include "anesi/cli/line_chart.h"
#include "anesi/flow/divergences.h"
#include "anesi/io/files.h"

namespace anesi::cli {
namespace {

using CurvePoint = DivergenceCurve::Point;

std::string chart_of(const std::vector<DivergenceCurve>& curves, double CurvePoint::*which, const std::string& title) {
  std::vector<Series> series;
  for (const auto& curve : curves) {
    auto& line = series.emplace_back(Series{name_of(curve.objective), {}});
    for (const auto& point : curve.points) line.points.emplace_back(static_cast<double>(point.step), point.*which);
  }
  return line_chart(series, {.title = title, .x = "steps", .y = "nats"});
}

}  // namespace

void bench_divergences(bool json, const std::string& svg) {
  const DivergenceOptions options;
  const auto curves = compare_divergences(
      options, [](std::int64_t done, std::int64_t all) { note(fmt::format("{} of {} trained", done, all)); });
  if (json) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& curve : curves) {
      for (const auto& [step, forward, reverse] : curve.points) {
        rows.push_back(
            {{"objective", name_of(curve.objective)}, {"step", step}, {"kl_p_q", forward}, {"kl_q_p", reverse}});
      }
    }
    print_json(nlohmann::ordered_json{{"divergences", rows}});
  } else {
    for (const auto& [title, which] :
         {std::pair("KL(p||q)", &CurvePoint::forward), std::pair("KL(q||p)", &CurvePoint::reverse)}) {
      std::cout << fmt::format("{:<14}", title);
      for (const auto& point : curves.front().points) std::cout << fmt::format("{:>10}", point.step);
      std::cout << '\n';
      for (const auto& curve : curves) {
        std::cout << fmt::format("  {:<12}", name_of(curve.objective));
        for (const auto& point : curve.points) std::cout << fmt::format("{:>10.5f}", point.*which);
        std::cout << '\n';
      }
    }
    std::cout << fmt::format(
        "nats, against steps: the sum of two digits below {}; {} samples a step, {} seeds, {} beliefs not learned "
        "from\n",
        options.base, options.learning.beliefs * options.learning.draws, options.seeds, options.tested);
  }
  if (svg.empty()) return;
  write_file_atomically(svg, side_by_side({chart_of(curves, &CurvePoint::forward, "KL(p||q)"),
                                           chart_of(curves, &CurvePoint::reverse, "KL(q||p)")}));
}

}  // namespace anesi::cli

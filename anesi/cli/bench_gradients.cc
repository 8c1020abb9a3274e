#include "anesi/cli/bench_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/check/gradient_check.h"
#include "anesi/cli/command.h"
#include "anesi/cli/line_chart.h"
#include "anesi/io/files.h"

namespace anesi::cli {
namespace {

constexpr double kLeastDrawn = 1e-6;    // relative errors below are drawn there
constexpr double kPointsOfADecade = 8;  // steps drawn of ten times as many
constexpr double kPanelWidth = 850, kPanelHeight = 470;

// All call g a thousand times in 250 steps; those that must call more often for a gradient are reckoned up to that.
const std::vector<ComparedEstimator>& compared() {
  static const std::vector<ComparedEstimator> all{
      {"anesi", "anesi", {"first=500", "calls=2"}},
      {"anesi, network", "anesi", {"model=normal", "first=500", "calls=2", "explore=0.5", "spread=0.5"}},
      {"rloo", "rloo"},
      {"reinforce", "reinforce"},
      {"indecater", "indecater"},
      {"gumbel", "gumbel"},
      {"reparameterised", "reparameterised", {"difference=0.1", "samples=1"}},
  };
  return all;
}

// A-NeSI with more calls before the first step, too: where maxima lie close together, errors of the first steps decide
// which one is reached.
const std::vector<ComparedEstimator>& optimised() {
  static const std::vector<ComparedEstimator> all{
      {"anesi", "anesi", {"first=500", "calls=2"}},
      {"anesi, 1800 first", "anesi", {"first=1800", "calls=2", "kernel.memory=4096"}},
      {"rloo", "rloo"},
  };
  return all;
}

Series drawn(const GradientErrors& errors) {
  Series series{errors.estimator, {}};
  const auto steps = static_cast<double>(errors.by_step.size());
  // Means over stretches of steps that grow as the logarithm does.
  for (double begin = 1; begin <= steps;) {
    const auto end = std::min(steps + 1, std::max(begin + 1, std::floor(begin * std::pow(10, 1 / kPointsOfADecade))));
    double sum = 0;
    for (auto step = begin; step < end; ++step) sum += errors.by_step[static_cast<std::size_t>(step - 1)];
    series.points.emplace_back(begin, std::max(kLeastDrawn, sum / (end - begin)));
    begin = end;
  }
  return series;
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

void bench_gradients(std::int64_t trainings, bool json, const std::string& svg) {
  GradientCheckOptions options;
  options.trainings = trainings;
  auto gradients = nlohmann::ordered_json::array(), optimisations = nlohmann::ordered_json::array();
  std::string panels;
  int panel = 0;
  for (const auto& problem : gradient_problems()) {
    if (!json) {
      std::cout << fmt::format("{}\n{:<18}{:>10}{:>12}{:>12}{:>12}{:>12}{:>10}\n", problem.name, "  gradient by",
                               "calls", "bias^2", "variance", "error", "relative", "ms")
                << std::flush;
    }
    const auto all = check_gradients(problem, compared(), options);
    std::vector<Series> lines;
    for (const auto& errors : all) {
      lines.push_back(drawn(errors));
      gradients.push_back({{"problem", problem.name},
                           {"estimator", errors.estimator},
                           {"calls_per_gradient", errors.calls},
                           {"bias_squared", errors.bias},
                           {"variance", errors.variance},
                           {"error", errors.error},
                           {"relative", errors.relative},
                           {"seconds", errors.seconds}});
      if (json) continue;
      std::cout << fmt::format("  {:<16}{:>10.2f}{:>12.2e}{:>12.2e}{:>12.2e}{:>12.2g}{:>10.2f}\n", errors.estimator,
                               errors.calls, errors.bias, errors.variance, errors.error, errors.relative,
                               1000 * errors.seconds)
                << std::flush;
    }
    panels +=
        fmt::format("<g transform='translate({} {})'>\n{}</g>\n", kPanelWidth * (panel % 2), kPanelHeight * (panel / 2),
                    line_chart(lines, {.title = problem.name,
                                       .x = "step of the optimisation, 4 calls of g each",
                                       .y = "squared error of the gradient, relative"}));
    ++panel;
    for (const auto& estimator : optimised()) {
      const auto found = check_optimisation(problem, estimator, options);
      optimisations.push_back({{"problem", problem.name},
                               {"estimator", found.estimator},
                               {"start", found.start},
                               {"best", found.best},
                               {"closed", found.closed},
                               {"least_closed", found.least_closed},
                               {"reached", found.reached},
                               {"trainings", found.trainings},
                               {"calls", number_or_null(found.calls)}});
      if (json) continue;
      std::cout << fmt::format(
                       "  optimised by {:<18}from {:.4f} to {:.4f}: {:.2f} % of the gap closed (worst {:.2f} %); "
                       "{} of {} reached 99 %, after {} calls\n",
                       found.estimator, found.start, found.best, 100 * found.closed, 100 * found.least_closed,
                       found.reached, found.trainings,
                       std::isfinite(found.calls) ? fmt::format("{:.0f}", found.calls) : std::string("-"))
                << std::flush;
    }
  }
  if (json) {
    print_json(nlohmann::ordered_json{{"gradients", gradients}, {"optimisations", optimisations}});
  } else {
    std::cout << fmt::format(
        "{} trainings, {} steps, {} calls of g for each step; errors are squared, summed over numbers, in the mean "
        "over "
        "steps, at equal calls\n",
        options.trainings, options.steps, options.calls);
  }
  if (svg.empty()) return;
  write_file_atomically(svg,
                        fmt::format("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 "
                                    "{0} {1}'>\n<rect width='{0}' height='{1}' fill='white'/>\n{2}</svg>\n",
                                    2 * kPanelWidth, 2 * kPanelHeight, panels));
}

}  // namespace anesi::cli

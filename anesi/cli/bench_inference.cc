#include "anesi/cli/bench_inference.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/builtin/addition.h"
#include "anesi/cli/command.h"
#include "anesi/cli/line_chart.h"
#include "anesi/core/pruner.h"
#include "anesi/io/files.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/models/beam.h"
#include "anesi/models/scan.h"
#include "anesi/models/scan_explanation.h"
#include "anesi/models/transducer.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongest = 10;  // seconds that a query may take before longer ones are left out

double seconds_of(const std::function<void()>& query, double budget) {
  const auto once = [&] {
    const auto start = Clock::now();
    query();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  auto best = once();  // also warms up
  double spent = best;
  for (int repeat = 0; repeat < 3 || (spent < budget && repeat < 1000); ++repeat) {
    const auto time = once();
    best = std::min(best, time);
    spent += time;
    if (spent > kLongest) break;
  }
  return best;
}

// The most likely sum by going through every pair of numbers.
void enumerate_sums(const Addition& addition, const torch::Tensor& belief) {
  const auto rows = belief.to(torch::kFloat64).contiguous();
  const auto* const table = rows.const_data_ptr<double>();
  std::int64_t sums = 2;
  for (std::int64_t digit = 1; digit < addition.outputs().variables(); ++digit) sums *= 10;
  std::vector<double> shares(static_cast<std::size_t>(sums), 0);
  std::vector<std::int64_t> sum(static_cast<std::size_t>(addition.outputs().variables()));
  addition.worlds().for_each_point([&](Values world) {
    double weight = 1;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      weight *= table[10 * variable + static_cast<std::size_t>(world[variable])];
    }
    addition.apply_to_one(world, sum);
    std::int64_t number = 0;
    for (const auto digit : sum) number = 10 * number + digit;
    shares[static_cast<std::size_t>(number)] += weight;
  });
  volatile auto best = std::ranges::max_element(shares) - shares.begin();
  (void)best;
}

}  // namespace

void bench_inference(std::vector<std::int64_t> sizes, double seconds, bool json, const std::string& svg) {
  const torch::InferenceMode inference;
  if (sizes.empty()) {
    for (std::int64_t digits = 1; digits <= 15; ++digits) sizes.push_back(digits);
    sizes.insert(sizes.end(), {50, 100});
  }
  std::ranges::sort(sizes);
  std::vector<Series> series{{"scan, predict", {}},       {"scan, explain", {}},       {"scan, prune", {}},
                             {"transducer, predict", {}}, {"transducer, explain", {}}, {"transducer, prune", {}},
                             {"exact, carries", {}},      {"exact, enumeration", {}}};
  double enumeration = 0;       // seconds at the last length
  std::int64_t enumerated = 0;  // that length
  for (const auto digits : sizes) {
    const Addition addition(digits);
    const auto &worlds = addition.worlds(), &outputs = addition.outputs();
    const auto reading = reading_order_of(addition);
    const auto belief = FixedDirichlet(worlds, 0.2).sample(1, seeded(1));
    const SymbolicPruning pruning(addition.facts().share<Pruner>());
    const auto predict = [&](const InferenceModel& q, const Pruning* with) {
      return beam_search(*q.prediction, belief, 1, with).values.select(1, 0).contiguous();
    };
    const auto explain_too = [&](const InferenceModel& q, const Pruning* with) {
      // The predicted sum may be none where q is untrained, as it is here; the pruner's own is one.
      const auto sum = predict(q, &pruning);
      beam_search(*q.explanation, {belief, sum}, 1, with);
    };
    const InferenceModel scan{std::make_shared<Scan>(worlds, outputs, reading, ScanOptions{}),
                              std::make_shared<ScanExplanation>(worlds, outputs, reading, ScanOptions{})};
    const auto learned = std::make_shared<Transducer>(outputs, reading, TransducerOptions{});
    const InferenceModel transducer{learned, make_explanation(learned, worlds)};
    const auto exact = make_automaton_model(addition.facts().share<Automaton>(), outputs);
    const std::vector<std::function<void()>> queries{
        [&] { predict(scan, nullptr); },           [&] { explain_too(scan, nullptr); },
        [&] { explain_too(scan, &pruning); },      [&] { predict(transducer, nullptr); },
        [&] { explain_too(transducer, nullptr); }, [&] { explain_too(transducer, &pruning); },
        [&] { predict(exact, nullptr); }};
    for (std::size_t index = 0; index < queries.size(); ++index) {
      series[index].points.emplace_back(static_cast<double>(digits), seconds_of(queries[index], seconds / 10));
    }
    // Another digit of each number takes a hundred times as long. The first guess: a billion pairs of numbers take 10
    // s.
    const auto expected =
        enumerated > 0 ? enumeration * std::pow(100, digits - enumerated) : 1e-8 * std::pow(100, digits);
    if (expected < kLongest) {
      enumeration = seconds_of([&] { enumerate_sums(addition, belief[0]); }, seconds / 10);
      enumerated = digits;
      series.back().points.emplace_back(static_cast<double>(digits), enumeration);
    }
    note(fmt::format("{} digits timed", digits));
  }
  if (!svg.empty()) {
    write_file_atomically(svg, line_chart(series, {.title = "One query: milliseconds against the number of digits N",
                                                   .x = "N, digits of each number",
                                                   .y = "milliseconds",
                                                   .y_scale = 1000}));
  }
  auto rows = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:<22}{:>8}{:>16}\n", "", "digits", "milliseconds");
  for (const auto& line : series) {
    for (const auto& [digits, time] : line.points) {
      rows.push_back({{"name", fmt::format("inference/{}/{}", line.name, digits)},
                      {"seconds", time},
                      {"ratio", nullptr},
                      {"against", nullptr}});
      text += fmt::format("{:<22}{:>8}{:>16.3f}\n", line.name, digits, 1000 * time);
    }
  }
  if (json) return print_json(nlohmann::ordered_json{{"inference", rows}});
  std::cout << text;
}

}  // namespace anesi::cli

#include "anesi/cli/bench_grid.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "anesi/cli/command.h"
#include "anesi/cli/time_of.h"
#include "anesi/models/soft_min_sweeps_reference.h"
#include "anesi/run/configuration.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi::cli {
namespace {

constexpr std::int64_t kMapsSolved = 2000;
constexpr std::int64_t kBatch = 16, kCostMaps = 4;  // four vectors of sixteen maps of costs
constexpr double kSweepsPerSide = 2.2;
constexpr double kLongestComposition = 10;  // times the time for a part; what takes longer is left out

using Sweeps = std::function<torch::Tensor(const torch::Tensor& costs, const torch::Tensor& temperatures,
                                           const torch::Tensor& goals, std::int64_t sweeps)>;

// Forward and backward.
double time_sweeps(std::int64_t side, double seconds, const Sweeps& sweeps) {
  const auto costs = (torch::rand({kBatch, kCostMaps, side, side}, seeded(1)) + 0.05).requires_grad_(true);
  const auto temperatures = torch::linspace(0.03, 0.5, kCostMaps).requires_grad_(true);
  const auto goals = torch::full({kBatch}, side * side - 1, torch::kInt64);
  const auto count = static_cast<std::int64_t>(kSweepsPerSide * static_cast<double>(side));
  return time_of(seconds, [&] { sweeps(costs, temperatures, goals, count).sum().backward(); });
}

}  // namespace

void bench_grid(double seconds, bool json) {
  auto results = nlohmann::ordered_json::array();
  if (!json) std::cout << fmt::format("{:<10}{:>20}\n", "paths", "maps solved a second");
  for (const std::int64_t side : {12, 30}) {
    Configuration configuration("warcraft", "default");
    configuration.table().set("task.size", std::to_string(side));
    const auto task = configuration.make_task({});
    const auto worlds = torch::randint(task.problem->worlds().largest_domain(),
                                       {kMapsSolved, task.problem->worlds().variables()}, seeded(1), torch::kInt64);
    const auto rate = static_cast<double>(kMapsSolved) / time_of(seconds, [&] { apply(*task.problem, worlds); });
    results.push_back({{"name", fmt::format("paths/{}", side)}, {"maps_per_second", rate}});
    if (!json) std::cout << fmt::format("{:<10}{:>20.0f}\n", side, rate) << std::flush;
  }
  if (!json) {
    std::cout << fmt::format("{:<10}{:>14}{:>14}{:>10}{:>26}\n", "sweeps", "milliseconds", "composed", "ratio",
                             "ns a cell, map and sweep");
  }
  double expected = 0;  // of the composition, from the side before: its work is in proportion to the side's cube
  std::int64_t before = 0;
  for (const std::int64_t side : {6, 12, 30, 60}) {
    const auto ours = time_sweeps(side, seconds, soft_min_sweeps);
    if (before > 0) expected *= std::pow(static_cast<double>(side) / static_cast<double>(before), 3);
    before = side;
    std::optional<double> composed;
    if (expected <= kLongestComposition * std::max(seconds, 0.1)) {
      expected = time_sweeps(side, seconds, soft_min_sweeps_composed);
      composed = expected;
    }
    const auto sweeps = static_cast<double>(static_cast<std::int64_t>(kSweepsPerSide * static_cast<double>(side)));
    const auto each = 1e9 * ours / (static_cast<double>(kBatch * kCostMaps * side * side) * sweeps);
    nlohmann::ordered_json row{{"name", fmt::format("sweeps/{}", side)},
                               {"seconds", ours},
                               {"ratio", nullptr},
                               {"against", nullptr},
                               {"ns_per_cell_sweep", each}};
    if (composed) row.update({{"ratio", *composed / ours}, {"against", "libtorch composition"}});
    results.push_back(row);
    if (json) continue;
    std::cout << fmt::format("{:<10}{:>14.3f}{:>14}{:>10}{:>26.3f}\n", side, 1000 * ours,
                             composed ? fmt::format("{:.2f}", 1000 * *composed) : "-",
                             composed ? fmt::format("{:.1f}x", *composed / ours) : "-", each)
              << std::flush;
  }
  if (json) print_json(nlohmann::ordered_json{{"grid", results}});
}

}  // namespace anesi::cli

#include "anesi/cli/bench_grid.h"

#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/cli/time_of.h"
#include "anesi/core/seeded.h"
#include "anesi/models/soft_min_sweeps_reference.h"
#include "anesi/run/configuration.h"

namespace anesi::cli {
namespace {

constexpr std::int64_t kMapsSolved = 2000;
constexpr std::int64_t kBatch = 16, kCostMaps = 4;  // four vectors of sixteen maps of costs
constexpr double kSweepsPerSide = 2.2;

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
    const auto rate = static_cast<double>(kMapsSolved) / time_of(seconds, [&] { task.problem->apply(worlds); });
    results.push_back({{"name", fmt::format("paths/{}", side)}, {"maps_per_second", rate}});
    if (!json) std::cout << fmt::format("{:<10}{:>20.0f}\n", side, rate) << std::flush;
  }
  if (!json) {
    std::cout << fmt::format("{:<10}{:>14}{:>14}{:>10}{:>26}\n", "sweeps", "milliseconds", "composed", "ratio",
                             "ns a cell, map and sweep");
  }
  for (const std::int64_t side : {6, 12, 30, 60}) {
    const auto ours = time_sweeps(side, seconds, soft_min_sweeps),
               composed = time_sweeps(side, seconds, soft_min_sweeps_composed);
    const auto sweeps = static_cast<double>(static_cast<std::int64_t>(kSweepsPerSide * static_cast<double>(side)));
    const auto each = 1e9 * ours / (static_cast<double>(kBatch * kCostMaps * side * side) * sweeps);
    results.push_back({{"name", fmt::format("sweeps/{}", side)},
                       {"seconds", ours},
                       {"ratio", composed / ours},
                       {"against", "libtorch composition"},
                       {"ns_per_cell_sweep", each}});
    if (json) continue;
    std::cout << fmt::format("{:<10}{:>14.3f}{:>14.2f}{:>9.1f}x{:>26.3f}\n", side, 1000 * ours, 1000 * composed,
                             composed / ours, each)
              << std::flush;
  }
  if (json) std::cout << results.dump() << '\n';
}

}  // namespace anesi::cli

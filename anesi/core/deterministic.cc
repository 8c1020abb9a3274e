#include "anesi/core/deterministic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "anesi/core/error.h"
#include "anesi/core/rows.h"
#include "anesi/core/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kFewest = 16, kMost = 1000;
constexpr double kSeconds = 0.2;  // that asking may take, beyond the fewest worlds

}  // namespace

void require_same_outputs(const torch::Tensor& worlds, const torch::Tensor& outputs, const torch::Tensor& again) {
  if (torch::equal(outputs, again)) return;
  const auto row = (outputs != again).any(1).nonzero()[0][0].item<std::int64_t>();
  throw Error(
      fmt::format("c gives different outputs for the same world ({}): ({}) and ({}); it must depend on the world alone",
                  fmt::join(values_of(worlds[row]), ", "), fmt::join(values_of(outputs[row]), ", "),
                  fmt::join(values_of(again[row]), ", ")));
}

void require_deterministic(const Problem& problem) {
  const auto generator = seeded(0);
  std::vector<torch::Tensor> columns;
  for (const auto domain : problem.worlds().domains()) {
    columns.push_back(torch::randint(domain, {kMost}, generator, torch::kInt64));
  }
  const auto worlds = torch::stack(columns, 1);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t asked = 0;
  // Twice as many each time, so that how long c takes is known before many are asked.
  for (auto rows = kFewest; asked < kMost; rows *= 2) {
    const auto some = worlds.slice(0, asked, std::min(asked + rows, kMost));
    require_same_outputs(some, problem.apply(some), problem.apply(some.flip(0)).flip(0));
    asked += some.size(0);
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > kSeconds) return;
  }
}

}  // namespace anesi

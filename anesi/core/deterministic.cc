#include "anesi/core/deterministic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr std::int64_t kFewest = 16, kMost = 1000;
constexpr double kSeconds = 0.2;  // that asking may take, beyond the fewest worlds

Points reversed(PointRows rows) {
  Points result(rows.size(), rows.width());
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    std::ranges::copy(rows[row], result[rows.size() - 1 - row].begin());
  }
  return result;
}

}  // namespace

void require_same_outputs(PointRows worlds, PointRows outputs, PointRows again) {
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    if (std::ranges::equal(outputs[row], again[row])) continue;
    throw Error(fmt::format(
        "c gives different outputs for the same world ({}): ({}) and ({}); it must depend on the world alone",
        fmt::join(worlds[row], ", "), fmt::join(outputs[row], ", "), fmt::join(again[row], ", ")));
  }
}

void require_deterministic(const Problem& problem) {
  Random random(0);
  const auto worlds = random_points(problem.worlds(), kMost, random);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t asked = 0;
  // Twice as many each time, so that how long c takes is known before many are asked.
  for (auto rows = kFewest; asked < kMost; rows *= 2) {
    const auto some = worlds.rows().slice(asked, std::min(asked + rows, kMost));
    require_same_outputs(some, apply(problem, some), reversed(apply(problem, reversed(some))));
    asked += some.size();
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > kSeconds) return;
  }
}

}  // namespace anesi

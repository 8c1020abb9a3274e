#include "anesi/discover/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anesi {
namespace {

// Between two looks at the clock.
constexpr double kSecondsAtOnce = 0.1;
constexpr std::int64_t kMostRows = 1 << 16;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Oracle::Oracle(const Problem& problem, const DiscoverLimits& limits) : problem_(problem), limits_(limits) {}

double Oracle::seconds() const { return seconds_since(begin_); }

Points Oracle::ask(PointRows worlds) {
  const auto rows = worlds.size();
  if (calls_ + rows > std::min(allowed_, limits_.calls))
    throw LimitReached(fmt::format("{} calls of c were not enough", std::min(allowed_, limits_.calls)));
  Points result(rows, outputs().variables(), kNone);
  for (std::int64_t begin = 0; begin < rows;) {
    if (seconds_left() <= 0) throw LimitReached(fmt::format("{:.3g} s were not enough", limits_.seconds));
    const auto end = std::min(rows, begin + rows_at_once_);
    const auto some = worlds.slice(begin, end);
    const auto answers = result.rows().slice(begin, end);
    const auto started = std::chrono::steady_clock::now();
    problem_.apply(some, answers);
    const double each = seconds_since(started) / static_cast<double>(end - begin);
    calls_ += end - begin;
    check(some, answers);
    // A function of unknown cost is first asked about one world, then about more at a time.
    rows_at_once_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(kSecondsAtOnce / (each + 1e-9)), 1,
                                             std::min(4 * rows_at_once_, kMostRows));
    begin = end;
  }
  return result;
}

void Oracle::check(PointRows worlds, PointRows outputs) const {
  const auto& domains = this->outputs().domains();
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    const auto output = outputs[row];
    if (std::ranges::equal(output, domains, [](auto value, auto domain) { return value >= 0 && value < domain; }))
      continue;
    if (const auto complaint = this->outputs().complaint(output); !complaint.empty()) {
      throw Error(
          fmt::format("the output of world ({}) is outside its space: {}", fmt::join(worlds[row], ", "), complaint));
    }
    throw LimitReached("outputs differ in length, which no memory here can say");
  }
}

}  // namespace anesi

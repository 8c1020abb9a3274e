#include "anesi/builtin/shortest_path.h"

#include <algorithm>
#include <limits>

namespace anesi {
namespace {

constexpr std::int32_t kUnreached = std::numeric_limits<std::int32_t>::max();

}  // namespace

ShortestPaths::ShortestPaths(std::int64_t side)
    : side_(side),
      to_goal_(static_cast<std::size_t>((side + 2) * (side + 2))),
      costs_(to_goal_.size(), 0),
      waiting_(kBuckets) {
  for (std::size_t direction = 0; direction < neighbours_.size(); ++direction) {
    const auto [row, column] = GridWalk::kOffsets[direction];
    neighbours_[direction] = row * (side + 2) + column;
  }
}

void ShortestPaths::solve(std::span<const std::uint8_t> costs, std::int64_t goal) {
  for (std::int64_t row = 0; row < side_; ++row) {
    std::copy_n(costs.begin() + row * side_, side_, costs_.begin() + static_cast<std::ptrdiff_t>(place(row * side_)));
  }
  std::fill(to_goal_.begin(), to_goal_.end(), kUnreached);
  goal_ = goal;
  const auto first = place(goal);
  to_goal_[first] = costs_[first];
  waiting_[costs_[first]].push_back(static_cast<std::int32_t>(first));
  // A step costs less than there are buckets, so those that wait at any time have a bucket for each of their costs.
  std::int32_t reached = costs_[first];
  for (std::size_t left = 1; left > 0; ++reached) {
    auto& bucket = waiting_[static_cast<std::size_t>(reached) % kBuckets];
    while (!bucket.empty()) {
      const auto here = bucket.back();
      bucket.pop_back();
      --left;
      if (to_goal_[static_cast<std::size_t>(here)] != reached) continue;  // a cheaper way was found since
      for (const auto offset : neighbours_) {
        const auto next = static_cast<std::size_t>(here + offset);
        if (costs_[next] == 0) continue;
        const auto cost = reached + costs_[next];
        if (cost >= to_goal_[next]) continue;
        to_goal_[next] = cost;
        waiting_[static_cast<std::size_t>(cost) % kBuckets].push_back(static_cast<std::int32_t>(next));
        ++left;
      }
    }
  }
}

std::int64_t ShortestPaths::direction(std::int64_t cell) const {
  if (cell == goal_) return kNone;
  const auto here = static_cast<std::ptrdiff_t>(place(cell));
  const auto cost_of = [&](std::ptrdiff_t offset) { return to_goal_[static_cast<std::size_t>(here + offset)]; };
  return std::ranges::min_element(neighbours_, {}, cost_of) - neighbours_.begin();
}

}  // namespace anesi

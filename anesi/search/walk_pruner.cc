#include "anesi/search/walk_pruner.h"

#include <algorithm>
#include <vector>

namespace anesi {
namespace {

class WalkPruner final : public Pruner {
 public:
  explicit WalkPruner(const GridWalk& walk) : walk_(walk) {}

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    constexpr std::int64_t kUnseen = -1, kVisited = -2;
    std::vector<std::int64_t> distance(static_cast<std::size_t>(walk_.cells()), kUnseen);
    const auto at = [&](std::int64_t cell) -> std::int64_t& { return distance[static_cast<std::size_t>(cell)]; };
    auto here = walk_.start;
    at(here) = kVisited;
    for (std::int64_t step = 0; step < variable; ++step) {
      const auto direction = partial[static_cast<std::size_t>(step)];
      if (direction < 0) return;  // the walk is over, or its steps were chosen in another order: nothing is known
      here = walk_.step(here, direction);
      if (here == kNone || at(here) == kVisited) return;
      at(here) = kVisited;
    }
    if (here == walk_.goal) return;
    // How many steps each cell is from the goal, over cells that were not visited.
    std::vector<std::int64_t> waiting{walk_.goal};
    at(walk_.goal) = 0;
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      const auto cell = waiting[next];
      for (std::int64_t direction = 0; direction < kDirections; ++direction) {
        const auto neighbour = walk_.step(cell, direction);
        if (neighbour == kNone || at(neighbour) != kUnseen) continue;
        at(neighbour) = at(cell) + 1;
        waiting.push_back(neighbour);
      }
    }
    const auto left = static_cast<std::int64_t>(partial.size()) - variable - 1;
    for (std::int64_t direction = 0; direction < kDirections; ++direction) {
      const auto next = walk_.step(here, direction);
      mask[static_cast<std::size_t>(direction)] = next != kNone && at(next) >= 0 && at(next) <= left;
    }
  }

  void allow_worlds(Values, Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
  bool is_exact() const override { return false; }

 private:
  GridWalk walk_;
};

}  // namespace

std::unique_ptr<Pruner> make_walk_pruner(const GridWalk& walk) { return std::make_unique<WalkPruner>(walk); }

}  // namespace anesi

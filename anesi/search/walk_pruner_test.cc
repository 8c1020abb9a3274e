#include "anesi/search/walk_pruner.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

namespace anesi {
namespace {

// Whether the walk can be completed, by trying everything.
bool completes(const GridWalk& walk, std::int64_t cell, std::vector<bool>& visited, std::int64_t steps_left) {
  if (cell == walk.goal) return true;
  if (steps_left == 0) return false;
  for (std::int64_t direction = 0; direction < kDirections; ++direction) {
    const auto next = walk.step(cell, direction);
    if (next == kNone || visited[static_cast<std::size_t>(next)]) continue;
    visited[static_cast<std::size_t>(next)] = true;
    const bool found = completes(walk, next, visited, steps_left - 1);
    visited[static_cast<std::size_t>(next)] = false;
    if (found) return true;
  }
  return false;
}

TEST(WalkPruner, EqualsBruteForceOnEveryPrefix) {
  const GridWalk walk{.side = 3, .start = 0, .goal = 8};
  for (const std::size_t steps : {2U, 4U, 8U}) {
    const auto pruner = make_walk_pruner(walk);
    std::vector<std::int64_t> partial(steps, kUnset);
    std::vector<bool> visited(9, false);
    visited[0] = true;
    std::int64_t questions = 0;
    const std::function<void(std::int64_t, std::int64_t)> follow = [&](std::int64_t cell, std::int64_t variable) {
      if (cell == walk.goal || variable == static_cast<std::int64_t>(steps)) return;
      ++questions;
      std::array<bool, kDirections> mask{};
      pruner->allow_outputs(partial, variable, mask);
      for (std::int64_t direction = 0; direction < kDirections; ++direction) {
        const auto next = walk.step(cell, direction);
        bool expected = next != kNone && !visited[static_cast<std::size_t>(next)];
        if (expected) {
          visited[static_cast<std::size_t>(next)] = true;
          expected = completes(walk, next, visited, static_cast<std::int64_t>(steps) - variable - 1);
          visited[static_cast<std::size_t>(next)] = false;
        }
        ASSERT_EQ(mask[static_cast<std::size_t>(direction)], expected);
        if (!expected) continue;
        partial[static_cast<std::size_t>(variable)] = direction;
        visited[static_cast<std::size_t>(next)] = true;
        follow(next, variable + 1);
        visited[static_cast<std::size_t>(next)] = false;
        partial[static_cast<std::size_t>(variable)] = kUnset;
      }
    };
    follow(0, 0);
    EXPECT_GT(questions, 0);
  }
}

}  // namespace
}  // namespace anesi

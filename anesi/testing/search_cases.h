// Tests of the search for the most probable world: beliefs and outputs, and what must hold of every answer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "anesi/core/index.h"
#include "anesi/core/problem.h"
#include "anesi/search/most_probable_worlds.h"
#include "anesi/testing/toy_problems.h"

namespace anesi::toys {

inline constexpr double kNever = std::numeric_limits<double>::infinity();
inline const SearchLimits kNoLimits{kNever, std::numeric_limits<std::int64_t>::max()};

// Beliefs, as logarithms that are not normalised; not a number past a variable's domain.
class Believed {
 public:
  Believed(std::int64_t size, const Space& worlds)
      : worlds_(worlds),
        logs_(size, worlds.variables() * worlds.largest_domain(), std::numeric_limits<double>::quiet_NaN()) {}

  // Random ones, the more certain the larger the scale.
  static Believed at_random(std::int64_t size, const Space& worlds, double scale, Random& random) {
    Believed result(size, worlds);
    result.for_each([&](std::int64_t, std::int64_t, std::int64_t, double& log) { log = scale * random.normal(); });
    return result;
  }

  // Calls visit(row, variable, value, log).
  template <typename Visit>
  void for_each(Visit visit) {
    for (std::int64_t row = 0; row < logs_.size(); ++row) {
      for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
        for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
          visit(row, variable, value, at(row, variable, value));
        }
      }
    }
  }
  double& at(std::int64_t row, std::int64_t variable, std::int64_t value) {
    return logs_[row][as_size(variable * worlds_.largest_domain() + value)];
  }

  LogBeliefRows rows() const {
    return {logs_.values().data(), logs_.size(), worlds_.variables(), worlds_.largest_domain()};
  }

  std::vector<std::int64_t> most_likely(std::int64_t row) const {
    std::vector<std::int64_t> world;
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      const auto* const logs = &rows()(row, variable, 0);
      world.push_back(std::max_element(logs, logs + worlds_.domain(variable)) - logs);
    }
    return world;
  }
  double log_prob(std::int64_t row, Values world) const {
    double sum = 0;
    for (std::size_t i = 0; i < world.size(); ++i) sum += rows()(row, static_cast<std::int64_t>(i), world[i]);
    return sum;
  }
  // In nats, beside the most likely world.
  double cost(std::int64_t row, Values world) const { return log_prob(row, most_likely(row)) - log_prob(row, world); }

 private:
  Space worlds_;
  Matrix<double> logs_;
};

inline Points random_outputs(std::int64_t size, const Problem& problem, Random& random) {
  return apply(problem, random_points(problem.worlds(), size, random));
}

// Leaves each value open with this probability.
inline void leave_open(Points& outputs, double probability, Random& random) {
  for (auto& value : outputs.rows().values()) {
    if (random.uniform() < probability) value = kUnset;
  }
}

inline bool agrees(Values output, Values asked) {
  return std::ranges::equal(output, asked, [](auto is, auto wanted) { return wanted == kUnset || is == wanted; });
}

inline std::vector<double> gaps_of(const std::vector<ConsistentWorld>& found) {
  std::vector<double> gaps;
  for (const auto& row : found) gaps.push_back(row.gap);
  return gaps;
}

// Worlds that were found give the outputs and cost what is said.
inline void expect_worlds_give(const Problem& problem, const std::vector<ConsistentWorld>& found,
                               const Believed& believed, const Points& outputs) {
  ASSERT_EQ(std::ssize(found), outputs.size());
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    const auto& [world, gap, nodes, proven] = found[as_size(row)];
    EXPECT_EQ(world.empty(), gap == kNever);
    if (world.empty()) continue;
    EXPECT_TRUE(agrees(apply_to(problem, world), outputs[row]));
    EXPECT_NEAR(gap, believed.cost(row, world), 1e-9 * (1 + gap));
  }
}

// No world of `candidates`, which hold all worlds that matter, is better than the one found, and that is proven.
inline void expect_best_of(const Points& candidates, const Problem& problem, const Believed& believed,
                           const Points& outputs) {
  const auto found = most_probable_worlds(problem, {believed.rows(), outputs}, kNoLimits);
  expect_worlds_give(problem, found, believed, outputs);
  const auto given = apply(problem, candidates);
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    double least = kNever;
    for (std::int64_t candidate = 0; candidate < candidates.size(); ++candidate) {
      if (agrees(given[candidate], outputs[row])) least = std::min(least, believed.cost(row, candidates[candidate]));
    }
    EXPECT_TRUE(found[as_size(row)].proven);
    if (std::isinf(least)) {
      EXPECT_EQ(found[as_size(row)].gap, least) << "row " << row;
    } else {
      EXPECT_NEAR(found[as_size(row)].gap, least, 1e-8 * (1 + least)) << "row " << row;
    }
  }
}

inline void expect_equals_enumeration(const Problem& problem, const Believed& believed, const Points& outputs) {
  expect_best_of(all_points(problem.worlds()), problem, believed, outputs);
}

// A problem that tells nothing of itself, or its pruner alone; the problem outlives it.
inline std::shared_ptr<const Problem> retold(const Problem& problem, std::shared_ptr<const Pruner> pruner = nullptr) {
  Facts facts;
  if (pruner) facts.with(std::move(pruner));
  return with_facts(std::shared_ptr<const Problem>(std::shared_ptr<const Problem>(), &problem), std::move(facts));
}

// A square of side x side cells with as many values; cells of a row, a column or a box are pairs. Boxes of one row are
// no boxes: a Latin square.
inline PairsThatDiffer square(std::int64_t side, std::int64_t box_rows) {
  const auto box = [&](std::int64_t cell) {
    const auto box_columns = side / box_rows;
    return cell / side / box_rows * side + cell % side / box_columns;
  };
  std::vector<VariablePair> pairs;
  for (std::int64_t first = 0; first < side * side; ++first) {
    for (auto second = first + 1; second < side * side; ++second) {
      if (first / side == second / side || first % side == second % side || box(first) == box(second)) {
        pairs.push_back({first, second});
      }
    }
  }
  return {Space::uniform(side * side, side), std::move(pairs)};
}

}  // namespace anesi::toys

// Pairs that differ: what follows from decisions, and the search on Latin squares and sudokus.
#include "anesi/search/pair_propagation.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>

#include "anesi/core/error.h"
#include "anesi/search/local_pruner.h"
#include "anesi/testing/search_cases.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;
using toys::Believed;
using toys::kNever;
using toys::kNoLimits;
using toys::PairsThatDiffer;

// A 9x9 sudoku, and beliefs that are right about most of its cells.
Row solved_sudoku() {
  Row cells;
  for (std::int64_t row = 0; row < 9; ++row) {
    for (std::int64_t column = 0; column < 9; ++column) cells.push_back((row * 3 + row / 3 + column) % 9);
  }
  return cells;
}

Believed nearly_right(std::int64_t size, const Space& worlds, const Row& truth, double wrong, Random& random) {
  auto believed = Believed::at_random(size, worlds, 0.5, random);
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::size_t cell = 0; cell < truth.size(); ++cell) {
      const auto variable = static_cast<std::int64_t>(cell);
      const auto seen = random.uniform() < wrong ? static_cast<std::int64_t>(random.below(9)) : truth[cell];
      // What is seen is believed most; the truth comes second if it is not what is seen.
      believed.at(row, variable, truth[cell]) += 3;
      believed.at(row, variable, seen) += 5;
    }
  }
  return believed;
}

// Every way to tell of a 3x3 Latin square: outputs of random worlds, so that some pairs differ and some do not.
TEST(PairsOfALatinSquare, EqualEnumerationHoweverTheProblemTellsOfItself) {
  const auto latin = toys::square(3, 1);
  std::vector<LocalConstraint> constraints;
  for (const auto [first, second] : latin.graph().pairs()) {
    constraints.push_back({{first, second}, {std::ssize(constraints)}, [](Values w, Values y) {
                             return (w[0] != w[1] ? 1 : 0) == y[0];
                           }});
  }
  const auto pruned = toys::retold(latin, make_local_pruner(latin.worlds(), latin.outputs(), constraints));
  const auto silent = toys::retold(latin);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto believed = Believed::at_random(8, latin.worlds(), 2, random);
    for (const double open : {0.0, 0.3, 0.8}) {
      auto outputs = toys::random_outputs(8, latin, random);
      for (std::int64_t row = 0; row < 3; ++row) std::ranges::fill(outputs[row], 1);
      toys::leave_open(outputs, open, random);
      toys::expect_equals_enumeration(latin, believed, outputs);
      toys::expect_equals_enumeration(*pruned, believed, outputs);
      toys::expect_equals_enumeration(*silent, believed, outputs);
    }
  }
}

TEST(PairPropagation, DomainsOfDifferentSizesMeet) {
  const PairsThatDiffer problem(Space{5, 1, 3, 2, 4}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto believed = Believed::at_random(30, problem.worlds(), 2, random);
    // Outputs of worlds, and outputs that perhaps no world has.
    auto outputs = toys::random_outputs(30, problem, random);
    toys::leave_open(outputs, 0.2, random);
    toys::expect_equals_enumeration(problem, believed, outputs);
    for (auto& value : outputs.rows().values()) value = static_cast<std::int64_t>(random.below(3)) - 1;
    toys::expect_equals_enumeration(problem, believed, outputs);
  }
}

// All 288 sudokus of 4x4 cells.
Points all_small_sudokus(const PairsThatDiffer& problem) {
  std::vector<Row> grids;
  Row cells;
  const auto fits = [&](std::int64_t value) {
    return std::ranges::none_of(problem.graph().pairs(), [&](const auto& pair) {
      return pair[1] == std::ssize(cells) && cells[as_size(pair[0])] == value;
    });
  };
  const auto fill = [&](const auto& self) -> void {
    if (cells.size() == 16) {
      grids.push_back(cells);
      return;
    }
    for (std::int64_t value = 0; value < 4; ++value) {
      if (!fits(value)) continue;
      cells.push_back(value);
      self(self);
      cells.pop_back();
    }
  };
  fill(fill);
  Points points(std::ssize(grids), 16);
  for (std::int64_t row = 0; row < points.size(); ++row) std::ranges::copy(grids[as_size(row)], points[row].begin());
  return points;
}

TEST(SmallSudokus, TheBestOfAllIsFound) {
  const auto sudoku = toys::square(4, 2);
  ASSERT_EQ(sudoku.graph().pairs().size(), 56);
  const auto grids = all_small_sudokus(sudoku);
  ASSERT_EQ(grids.size(), 288);
  const Points outputs(50, 56, 1);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto believed = Believed::at_random(50, sudoku.worlds(), static_cast<double>(seed), random);
    // Some values have probability zero, so that some rows have no sudoku at all.
    believed.for_each([&](std::int64_t, std::int64_t, std::int64_t value, double& log) {
      if (value > 0 && random.uniform() < 0.25) log = kLogOfZero;
    });
    toys::expect_best_of(grids, sudoku, believed, outputs);
    const auto gaps = toys::gaps_of(most_probable_worlds(sudoku, {believed.rows(), outputs}, kNoLimits));
    EXPECT_GT(std::ranges::count(gaps, kNever), 0);
    EXPECT_LT(std::ranges::count(gaps, kNever), 50);
  }
}

// Three rows of a 4x4 sudoku's cells are certain, so that 256 worlds are left to go through.
TEST(SmallSudokus, EqualBruteForceOnOutputsOfRandomGrids) {
  const auto sudoku = toys::square(4, 2);
  const auto last_rows = all_points(Space::uniform(4, 4));
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto truth = random_points(sudoku.worlds(), 1, random);
    auto outputs = apply(sudoku, truth);
    toys::leave_open(outputs, 0.5, random);
    auto believed = Believed::at_random(1, sudoku.worlds(), 2, random);
    believed.for_each([&](std::int64_t, std::int64_t cell, std::int64_t value, double& log) {
      if (cell < 12) log = value == truth[0][as_size(cell)] ? 0 : kLogOfZero;
    });
    Points candidates(last_rows.size(), 16);
    for (std::int64_t row = 0; row < candidates.size(); ++row) {
      std::ranges::copy(truth[0], candidates[row].begin());
      std::ranges::copy(last_rows[row], candidates[row].begin() + 12);
    }
    toys::expect_best_of(candidates, sudoku, believed, outputs);
  }
}

TEST(PairPropagation, NoWorldGivesAnOutputThatContradictsItself) {
  const auto sudoku = toys::square(9, 3);
  const auto& pairs = sudoku.graph().pairs();
  Points outputs(3, 810, 1);
  // Row 0: the first cell equals the second and the third, which differ. Row 1: all differ, but two cells of a row are
  // certain of the same value. Row 2: an output that ends too early.
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    if (pairs[index][0] == 0 && pairs[index][1] <= 2) outputs[0][index] = 0;
  }
  outputs[2][809] = kNone;
  Random random(1);
  auto believed = Believed::at_random(3, sudoku.worlds(), 1, random);
  believed.for_each([](std::int64_t row, std::int64_t cell, std::int64_t value, double& log) {
    if (row == 1 && cell < 2) log = value == 4 ? 0 : kLogOfZero;
  });
  for (const auto& found : most_probable_worlds(sudoku, {believed.rows(), outputs}, {kNever})) {
    EXPECT_TRUE(found.world.empty() && found.proven);
    EXPECT_EQ(found.gap, kNever);
    EXPECT_LE(found.nodes, 2);
  }
}

// A ring of six variables: two values that alternate, then three that are passed on.
TEST(PairPropagation, ConclusionsGoOnUntilNothingFollows) {
  const std::vector<VariablePair> ring{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}};
  const Row different(6, 1), equal(6, 0), half{1, 0, kUnset, 1, 0, kUnset};
  const auto domains_after = [](Propagation& propagation, std::int64_t variable, std::int64_t value) {
    EXPECT_TRUE(propagation.decide(variable, value));
    return std::vector<std::uint64_t>(propagation.domains().begin(), propagation.domains().end());
  };
  using Masks = std::vector<std::uint64_t>;
  const auto two = std::make_shared<PairGraph>(Space::uniform(6, 2), ring);
  const auto three = std::make_shared<PairGraph>(Space{3, 3, 2, 3, 3, 3}, ring);
  PairPropagation alternating(two, different), passed_on(three, equal), partly(three, half);
  EXPECT_EQ(domains_after(alternating, 2, 0), (Masks{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(passed_on.domains()[5], 3U) << "the third variable has two values, so all have";
  EXPECT_EQ(domains_after(passed_on, 4, 1), (Masks{2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(domains_after(partly, 0, 0), (Masks{1, 2, 2, 7, 7, 7}));
  EXPECT_THROW(PairGraph(Space{2, 2}, {{0, 2}}), Error);
}

TEST(PairPropagation, DecisionsAreTakenBackAsTheyWereMade) {
  const auto sudoku = toys::square(4, 2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto outputs = toys::random_outputs(1, sudoku, random);
    toys::leave_open(outputs, 0.3, random);
    const auto propagation = sudoku.facts().find<PropagationOf>()->make(outputs[0]);
    std::vector<std::vector<std::uint64_t>> before;
    const auto now = [&] {
      return std::vector<std::uint64_t>(propagation->domains().begin(), propagation->domains().end());
    };
    bool dead = false;
    for (int step = 0; step < 500; ++step) {
      const auto variable = random.below(16);
      const auto domain = propagation->domains()[variable];
      if (!dead && random.below(3) != 0 && !std::has_single_bit(domain)) {
        auto value = random.below(4);
        while ((domain >> value & 1) == 0) value = (value + 1) % 4;
        before.push_back(now());
        dead = !propagation->decide(static_cast<std::int64_t>(variable), static_cast<std::int64_t>(value));
        std::set<std::int64_t> changed(propagation->changed().begin(), propagation->changed().end());
        for (std::int64_t cell = 0; cell < 16; ++cell) {
          const auto at = as_size(cell);
          EXPECT_EQ(changed.contains(cell), propagation->domains()[at] != before.back()[at]);
          EXPECT_EQ(propagation->domains()[at] & ~before.back()[at], 0);
        }
      } else if (!before.empty()) {
        propagation->undo();
        dead = false;
        EXPECT_EQ(now(), before.back());
        before.pop_back();
      }
    }
  }
}

TEST(Sudokus, AreRepairedFromNearlyRightBeliefs) {
  const auto sudoku = toys::square(9, 3);
  ASSERT_EQ(sudoku.graph().pairs().size(), 810);
  Random random(1);
  const auto truth = solved_sudoku();
  const auto believed = nearly_right(200, sudoku.worlds(), truth, 0.05, random);
  const Points outputs(200, 810, 1);
  const auto found = most_probable_worlds(sudoku, {believed.rows(), outputs});
  int right_without = 0;
  for (std::int64_t row = 0; row < 200; ++row) {
    EXPECT_TRUE(found[as_size(row)].proven);
    EXPECT_EQ(found[as_size(row)].world, truth);
    right_without += believed.most_likely(row) == truth;
  }
  EXPECT_LT(right_without, 20);
  toys::expect_worlds_give(sudoku, found, believed, outputs);
}

TEST(Sudokus, KeepTheLimitOfNodesIfBeliefsSayNothing) {
  const auto sudoku = toys::square(9, 3);
  Random random(1);
  const auto believed = Believed::at_random(8, sudoku.worlds(), 1, random);
  const Points outputs(8, 810, 1);
  for (const std::int64_t nodes : {0, 1, 100, 5000}) {
    const auto found = most_probable_worlds(sudoku, {believed.rows(), outputs}, {40, nodes});
    for (const auto& row : found) {
      EXPECT_EQ(row.nodes, nodes);
      EXPECT_FALSE(row.proven);
    }
    toys::expect_worlds_give(sudoku, found, believed, outputs);
  }
}

// If nodes run out after a world was found, it is returned: the more nodes, the better.
TEST(SmallSudokus, TheBestFoundSoFarIsReturned) {
  const auto sudoku = toys::square(4, 2);
  const Points outputs(50, 56, 1);
  Random random(1);
  const auto believed = Believed::at_random(50, sudoku.worlds(), 1, random);
  const auto best = most_probable_worlds(sudoku, {believed.rows(), outputs}, kNoLimits);
  const auto most = std::ranges::max(best, {}, &ConsistentWorld::nodes).nodes;
  std::vector<double> last(50, kNever);
  std::int64_t unproven_worlds = 0;
  for (std::int64_t nodes = 1; nodes <= most; ++nodes) {
    const auto found = most_probable_worlds(sudoku, {believed.rows(), outputs}, {kNever, nodes});
    for (std::size_t row = 0; row < found.size(); ++row) {
      EXPECT_LE(found[row].gap, last[row]);
      if (found[row].proven) {
        EXPECT_EQ(found[row].gap, best[row].gap);
      } else {
        unproven_worlds += !found[row].world.empty();
      }
    }
    toys::expect_worlds_give(sudoku, found, believed, outputs);
    last = toys::gaps_of(found);
  }
  EXPECT_EQ(last, toys::gaps_of(best));
  EXPECT_GT(unproven_worlds, 0);
}

TEST(SmallSudokus, CostNoMoreThanTheLimitOfNats) {
  const auto sudoku = toys::square(4, 2);
  const Points outputs(50, 56, 1);
  Random random(2);
  const auto believed = Believed::at_random(50, sudoku.worlds(), 1, random);
  const auto best = toys::gaps_of(most_probable_worlds(sudoku, {believed.rows(), outputs}, kNoLimits));
  for (const double nats : {0.0, 0.5, 3.0, 5.0, 6.0, 7.0, 9.0, 11.0}) {
    const auto found = most_probable_worlds(sudoku, {believed.rows(), outputs}, {nats});
    for (std::size_t row = 0; row < found.size(); ++row) {
      EXPECT_EQ(found[row].gap, best[row] > nats ? kNever : best[row]) << nats << " nats";
      EXPECT_TRUE(found[row].proven);
    }
  }
}

}  // namespace
}  // namespace anesi

// The search against enumeration and Viterbi, over every way a problem may tell of itself.
#include "anesi/search/most_probable_worlds.h"

#include <gtest/gtest.h>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/search/local_pruner.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/search_cases.h"

namespace anesi {
namespace {

using toys::Believed;
using toys::kNever;

std::shared_ptr<const Problem> random_hash(Random& random, std::uint64_t key) {
  std::vector<std::int64_t> worlds(1 + random.below(5)), outputs(1 + random.below(2));
  for (auto& domain : worlds) domain = static_cast<std::int64_t>(1 + random.below(5));
  for (auto& domain : outputs) domain = static_cast<std::int64_t>(1 + random.below(6));
  return make_problem(Space(worlds), Space(outputs), [key, outputs](Values w, MutableValues y) {
    std::uint64_t hash = key;
    for (const auto value : w) hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U;
    for (std::size_t index = 0; index < y.size(); ++index) {
      y[index] = static_cast<std::int64_t>((hash >> (20 + 10 * index)) % static_cast<std::uint64_t>(outputs[index]));
    }
  });
}

TEST(MostProbableWorlds, EqualEnumerationForAnyFunction) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto problem = random_hash(random, seed);
    const auto believed = Believed::at_random(16, problem->worlds(), static_cast<double>(random.below(5)), random);
    auto outputs = toys::random_outputs(16, *problem, random);
    toys::leave_open(outputs, 0.2, random);
    toys::expect_equals_enumeration(*problem, believed, outputs);
  }
}

// Gaps of up to a thousand nats and values of probability zero; automata, formulas, tables and plain functions.
TEST(MostProbableWorlds, EqualEnumerationWhateverTheBeliefs) {
  const toys::RandomSeed seed;
  for (std::uint64_t index = 0; index < 60; ++index) {
    SCOPED_TRACE("problem " + std::to_string(index));
    toys::Chances chances(seed + index);
    Random random(seed + index);
    const std::shared_ptr<const Problem> problem = index % 3 == 0 ? std::make_shared<toys::RandomMachine>(seed + index)
                                                   : index % 3 == 1 ? toys::random_function(chances)
                                                                    : toys::random_constraint(chances);
    Believed believed(8, problem->worlds());
    for (std::int64_t row = 0; row < 8; ++row) {
      const auto belief = toys::random_log_belief(chances, problem->worlds());
      for (std::size_t variable = 0; variable < belief.size(); ++variable) {
        for (std::size_t value = 0; value < belief[variable].size(); ++value) {
          believed.at(row, static_cast<std::int64_t>(variable), static_cast<std::int64_t>(value)) =
              belief[variable][value];
        }
      }
    }
    auto outputs = toys::random_outputs(8, *problem, random);
    toys::leave_open(outputs, 0.2, random);
    toys::expect_equals_enumeration(*problem, believed, outputs);
    if (problem->facts().find<Automaton>() != nullptr) {
      toys::expect_equals_enumeration(*toys::retold(*problem, problem->facts().share<Pruner>()), believed, outputs);
    }
  }
}

TEST(MostProbableSums, AreTheSameByPrunerBySatAndByAutomaton) {
  for (const std::int64_t digits : {1, 2}) {
    const toys::Addition addition(digits);
    const auto pruned = toys::retold(addition, addition.facts().share<Pruner>());
    const auto solved = this_build().cadical ? toys::retold(addition, make_sat_pruner(addition)) : nullptr;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::to_string(digits) + " digits, seed " + std::to_string(seed));
      Random random(seed);
      const auto believed = Believed::at_random(8, addition.worlds(), 2, random);
      auto outputs = toys::random_outputs(8, addition, random);
      toys::leave_open(outputs, 0.1, random);
      toys::expect_equals_enumeration(addition, believed, outputs);
      toys::expect_equals_enumeration(*pruned, believed, outputs);
      if (solved) toys::expect_equals_enumeration(*solved, believed, outputs);
    }
  }
}

TEST(MostProbableWorlds, AnAutomatonKeepsTheLimitOfNatsToo) {
  const toys::Addition addition(1);
  const auto pruned = toys::retold(addition, addition.facts().share<Pruner>());
  Believed believed(2, addition.worlds());
  // Certain of 3 and 3, the second row beyond doubt.
  believed.for_each([](std::int64_t row, std::int64_t, std::int64_t value, double& log) {
    log = value == 3 ? (row == 0 ? std::log(1 - 9e-4) : 0) : row == 0 ? std::log(1e-4) : kLogOfZero;
  });
  const Points outputs{{0, 7}, {0, 7}};
  for (const Problem* problem : {static_cast<const Problem*>(&addition), pruned.get()}) {
    const auto cheap = most_probable_worlds(*problem, {believed.rows(), outputs}, {9});
    const auto dear = most_probable_worlds(*problem, {believed.rows(), outputs}, {10});
    EXPECT_EQ(toys::gaps_of(cheap), (std::vector{kNever, kNever}));
    EXPECT_TRUE(cheap[0].world.empty() && cheap[1].world.empty());
    EXPECT_NEAR(dear[0].gap, std::log((1 - 9e-4) / 1e-4), 1e-9);
    EXPECT_EQ(dear[1].gap, kNever) << "a world of probability zero";
    for (const auto& found : {cheap, dear}) EXPECT_TRUE(found[0].proven && found[1].proven);
  }
}

TEST(MostProbableWorlds, AreTheMostLikelyOnesIfTheyGiveTheOutput) {
  const auto sudoku = toys::square(9, 3);
  Random random(1);
  const auto believed = Believed::at_random(4, sudoku.worlds(), 1, random);
  Points likely(4, 81);
  for (std::int64_t row = 0; row < 4; ++row) std::ranges::copy(believed.most_likely(row), likely[row].begin());
  for (const auto& outputs : {apply(sudoku, likely), Points(4, 810, kUnset)}) {
    const auto found = most_probable_worlds(sudoku, {believed.rows(), outputs});
    for (std::int64_t row = 0; row < 4; ++row) {
      const auto& [world, gap, nodes, proven] = found[as_size(row)];
      EXPECT_TRUE(std::ranges::equal(world, likely[row]));
      EXPECT_TRUE(gap == 0 && proven && nodes == 0);
    }
  }
}

TEST(MostProbableWorlds, DoNotDependOnTheNumberOfThreads) {
  const auto sudoku = toys::square(4, 2);
  Random random(3);
  const auto believed = Believed::at_random(64, sudoku.worlds(), 1, random);
  const Points outputs(64, 56, 1);
  const auto ask = [&](std::int64_t threads) {
    const ThreadLimit limit(threads);
    std::vector<std::vector<std::int64_t>> worlds;
    for (auto& row : most_probable_worlds(sudoku, {believed.rows(), outputs})) worlds.push_back(std::move(row.world));
    return worlds;
  };
  EXPECT_EQ(ask(1), ask(3));
}

TEST(MostProbableWorlds, RefuseWhatTheyCannotSearch) {
  const auto large = make_problem(Space{65}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0] % 2; });
  const auto full = make_problem(Space{64}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0] == 63 ? 1 : 0; });
  const std::vector<double> even(65, 0);
  const LogBeliefRows of_large(even.data(), 1, 1, 65), of_full(even.data(), 1, 1, 64);
  const Points one{{1}}, two{{2}}, wide{{1, 1}}, unequal{{other_than(0)}};
  EXPECT_THROW(most_probable_worlds(*large, {of_large, one}), Error);
  EXPECT_EQ(most_probable_worlds(*full, {of_full, one})[0].world, std::vector<std::int64_t>{63});
  EXPECT_THROW(most_probable_worlds(*full, {of_full, two}), Error);
  EXPECT_THROW(most_probable_worlds(*full, {of_full, wide}), Error);
  EXPECT_THROW(most_probable_worlds(*full, {of_full, unequal}), Error);
  EXPECT_THROW(most_probable_worlds(*full, {{even.data(), 1, 1, 63}, one}), Error);
  EXPECT_THROW(most_probable_worlds(*full, {of_full, one}, {-1}), Error);
  EXPECT_THROW(most_probable_worlds(*full, {of_full.slice(0, 0), one}), Error);
  EXPECT_TRUE(most_probable_worlds(*full, {of_full.slice(0, 0), Points(0, 1)}).empty());
  for (const double bad : {kNever, static_cast<double>(NAN)}) {
    auto numbers = even;
    numbers[7] = bad;
    EXPECT_THROW(most_probable_worlds(*full, {{numbers.data(), 1, 1, 64}, one}), Error);
  }
  const std::vector<double> impossible(64, kLogOfZero);
  EXPECT_THROW(most_probable_worlds(*full, {{impossible.data(), 1, 1, 64}, one}), Error);
}

}  // namespace
}  // namespace anesi

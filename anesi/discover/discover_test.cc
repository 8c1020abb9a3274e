#include "anesi/discover/discover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/discover/find_tables.h"
#include "anesi/discover/orders.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using Function = std::function<void(Values, MutableValues)>;

// Adds two numbers whose digits stand in some order, and writes the sum's in another.
std::shared_ptr<const Problem> addition(std::int64_t digits, std::uint64_t shuffled_by = 0) {
  std::vector<std::size_t> reads(as_size(2 * digits)), writes(as_size(digits) + 1);
  std::iota(reads.begin(), reads.end(), 0);
  std::iota(writes.begin(), writes.end(), 0);
  if (shuffled_by > 0) {
    std::mt19937_64 random(shuffled_by);
    std::ranges::shuffle(reads, random);
    std::ranges::shuffle(writes, random);
  }
  std::vector<std::int64_t> domains(as_size(digits) + 1, 10);
  domains[writes[0]] = 2;
  return make_problem(Space::uniform(2 * digits, 10), Space(domains), [=](Values world, MutableValues output) {
    std::int64_t carry = 0;
    for (auto place = as_size(digits); place-- > 0;) {
      const auto sum = world[reads[place]] + world[reads[as_size(digits) + place]] + carry;
      output[writes[place + 1]] = sum % 10;
      carry = sum / 10;
    }
    output[writes[0]] = carry;
  });
}

std::shared_ptr<const Problem> number(std::int64_t variables, std::int64_t domain, std::int64_t values,
                                      std::function<std::int64_t(Values)> function) {
  return make_problem(
      Space::uniform(variables, domain), Space{values},
      [function = std::move(function)](Values world, MutableValues output) { output[0] = function(world); });
}

std::int64_t widest(const Discovery& found) {
  return found.automaton ? *std::ranges::max_element(found.automaton->widths()) : -1;
}

// How many of fresh worlds, uniform and mixed, a machine is wrong on.
std::int64_t mistakes(const Problem& problem, const Discovery& found, std::int64_t draws = 20000) {
  Random random(91);
  const auto worlds =
      joined({random_points(problem.worlds(), draws, random), mixed_worlds(problem.worlds(), draws, random)});
  return std::ssize(differing_rows(found.automaton->run(worlds), apply(problem, worlds)));
}

TEST(Discover, RefusesAnOrderThatIsNone) {
  const auto problem = addition(1);
  const std::vector<std::vector<std::int64_t>> wrong{{0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 1}};
  for (const auto& order : wrong) {
    DiscoverOptions options;
    options.order = order;
    EXPECT_THROW(discover(*problem, options, 1), UsageError);
  }
}

TEST(Discover, AdditionIsACarry) {
  const auto problem = addition(4);
  const auto found = discover(*problem);
  ASSERT_TRUE(found.automaton) << found.reason;
  // Two states between positions, eleven within; a step that reads a digit, one that reads the other and emits, and one
  // that emits the carry.
  EXPECT_EQ(found.automaton->widths(), (std::vector<std::int64_t>{1, 10, 2, 11, 2, 11, 2, 11, 2, 1}));
  EXPECT_EQ(found.automaton->reading().kinds(), 3);
  EXPECT_EQ(mistakes(*problem, found), 0);
  ASSERT_TRUE(found.certificate);
  EXPECT_EQ(found.certificate->differing, 0);
  EXPECT_LT(found.certificate->bound, 3.1 / static_cast<double>(found.certificate->draws));
}

TEST(Discover, TheCarryOfShortNumbersAddsLongOnes) {
  const auto found = discover(*addition(4));
  ASSERT_TRUE(found.automaton);
  constexpr std::int64_t kDigits = 15;
  const auto longer = addition(kDigits);
  std::vector<Automaton::Table> tables;
  for (std::int64_t kind = 0; kind < found.automaton->reading().kinds(); ++kind)
    tables.push_back(found.automaton->table(kind));
  const auto& short_steps = found.automaton->reading().steps();
  std::vector<ReadingStep> steps;
  for (auto place = kDigits; place-- > 0;) {
    steps.push_back({{place}, std::nullopt, short_steps[0].kind});
    steps.push_back({{kDigits + place}, place + 1, short_steps[1].kind});
  }
  steps.push_back({{}, 0, short_steps.back().kind});
  const Automaton machine(ReadingOrder(longer->worlds(), longer->outputs(), steps), tables);
  Random random(3);
  const auto worlds = random_points(longer->worlds(), 5000, random);
  EXPECT_EQ(machine.run(worlds), apply(*longer, worlds));
}

TEST(Discover, FindsWhatIsShuffled) {
  const auto sums = addition(15, /*shuffled_by=*/5);
  const auto found = discover(*sums);
  EXPECT_EQ(widest(found), 11) << found.reason;
  EXPECT_EQ(mistakes(*sums, found), 0);

  std::vector<std::size_t> places(16);
  std::iota(places.begin(), places.end(), 0);
  std::mt19937_64 random(7);
  std::ranges::shuffle(places, random);
  const auto larger = number(16, 10, 3, [places](Values world) -> std::int64_t {
    for (std::size_t place = 0; place < 8; ++place) {
      const auto one = world[places[place]], other = world[places[8 + place]];
      if (one != other) return one > other ? 2 : 0;
    }
    return 1;
  });
  const auto compared = discover(*larger);
  EXPECT_LE(widest(compared), 12) << compared.reason;
  EXPECT_EQ(mistakes(*larger, compared), 0);
}

TEST(Discover, FindsFunctionsOfManyKinds) {
  const auto at_most = [](const std::shared_ptr<const Problem>& problem, std::int64_t states) {
    const auto found = discover(*problem);
    ASSERT_TRUE(found.automaton) << found.reason;
    EXPECT_LE(widest(found), states);
    EXPECT_LE(mistakes(*problem, found), 2);
  };
  at_most(
      number(24, 10, 217, [](Values world) { return std::accumulate(world.begin(), world.end(), std::int64_t{0}); }),
      208);
  at_most(
      number(40, 2, 2, [](Values world) { return std::accumulate(world.begin(), world.end(), std::int64_t{0}) % 2; }),
      2);
  at_most(number(20, 10, 10, [](Values world) { return *std::ranges::max_element(world); }), 10);
  at_most(number(8, 8, 2,
                 [](Values world) {
                   unsigned seen = 0;
                   for (const auto value : world) seen |= 1U << static_cast<unsigned>(value);
                   return std::int64_t{seen == 255};
                 }),
          71);
  at_most(make_problem(Space::uniform(5, 10), Space::uniform(5, 10),
                       [](Values world, MutableValues output) {
                         std::ranges::copy(world, output.begin());
                         std::ranges::sort(output);
                       }),
          715);
}

TEST(Discover, IsDecidedByTheSeedWhateverTheThreads) {
  const auto problem = addition(3, 2);
  const auto ask = [&](std::int64_t threads) {
    const ThreadLimit limit(threads);
    return discover(*problem, {}, 4);
  };
  const auto one = ask(1), again = ask(3);
  EXPECT_EQ(one.calls, again.calls);
  EXPECT_EQ(one.automaton->reading().read(), again.automaton->reading().read());
  EXPECT_EQ(one.influence, again.influence);
}

TEST(Discover, SaysThatThereIsNoMemory) {
  const auto product =
      make_problem(Space::uniform(6, 10), Space::uniform(6, 10), [](Values world, MutableValues output) {
        auto product = (world[0] * 100 + world[1] * 10 + world[2]) * (world[3] * 100 + world[4] * 10 + world[5]);
        for (std::size_t place = 6; place-- > 0; product /= 10) output[place] = product % 10;
      });
  const auto found = discover(*product);
  EXPECT_FALSE(found.automaton);
  EXPECT_FALSE(found.certificate);
  EXPECT_TRUE(toys::names(found.reason, {"4096"}));
}

TEST(Discover, SaysWhatIsWrongWithC) {
  const auto broken = number(4, 3, 3, [](Values) -> std::int64_t { throw std::runtime_error("no file"); });
  EXPECT_THROW(discover(*broken), std::exception);
  const auto outside = number(4, 3, 3, [](Values world) { return world[0] + world[1]; });
  EXPECT_THROW(discover(*outside), Error);
  std::atomic<std::int64_t> calls = 0;
  const auto changing = number(4, 3, 2, [&](Values) { return ++calls % 2; });
  EXPECT_THROW(discover(*changing), Error);
}

TEST(Discover, KeepsItsTime) {
  const auto slow = number(20, 10, 181, [](Values world) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::accumulate(world.begin(), world.end(), std::int64_t{0});
  });
  DiscoverOptions hurried;
  hurried.limits.seconds = 1;
  const auto found = discover(*slow, hurried);
  EXPECT_FALSE(found.automaton);
  EXPECT_LT(found.seconds, 1);
  EXPECT_FALSE(found.reason.empty());
  DiscoverOptions few_calls;
  few_calls.limits.calls = 20000;
  const auto given_up = discover(*addition(15), few_calls);
  EXPECT_FALSE(given_up.automaton);
  EXPECT_TRUE(toys::names(given_up.reason, {"20000"}));
}

TEST(Discover, LeavesWhatItCannotSay) {
  const auto shorter = make_problem(Space{3, 3}, Space{3, 3}, [](Values world, MutableValues output) {
    output[0] = world[0];
    if (world[0] > 0) output[1] = world[1];
  });
  EXPECT_FALSE(discover(*shorter).automaton);
  EXPECT_FALSE(discover(*shorter).reason.empty());
}

TEST(Discover, PairsOfASudokuAreTables) {
  std::vector<VariablePair> pairs;
  for (std::int64_t one = 0; one < 16; ++one) {
    for (std::int64_t other = one + 1; other < 16; ++other) {
      const bool together =
          one / 4 == other / 4 || one % 4 == other % 4 || (one / 8 == other / 8 && one % 4 / 2 == other % 4 / 2);
      if (together) pairs.push_back({one, other});
    }
  }
  const toys::PairsThatDiffer sudoku(Space::uniform(16, 4), pairs);
  const auto found = discover(sudoku);
  EXPECT_FALSE(found.automaton);
  ASSERT_TRUE(found.tables) << found.reason;
  EXPECT_EQ(pairs_of(*found.tables)->pairs, pairs);
  EXPECT_EQ(found.certificate->differing, 0);
}

// A table's variable that matters once in a thousand worlds is found where a table and c differ.
TEST(Discover, TablesFindTheVariablesThatInfluenceMissed) {
  const auto problem =
      number(12, 10, 10, [](Values world) { return world[3] == 7 && world[5] == 7 && world[9] == 7 ? 0 : world[3]; });
  Oracle oracle(*problem, {});
  Random random(3);
  const Matrix<double> nothing_seen(12, 1);
  const auto found = find_tables(oracle, nothing_seen, mixed_worlds_of(problem->worlds()), random);
  ASSERT_TRUE(found.tables) << found.reason;
  EXPECT_EQ(found.tables->tables[0].variables, (std::vector<std::int64_t>{3, 5, 9}));
  const auto many =
      number(12, 10, 109, [](Values world) { return std::accumulate(world.begin(), world.end(), std::int64_t{0}); });
  Oracle other(*many, {});
  const auto none = find_tables(other, influence(other, random), mixed_worlds_of(many->worlds()), random);
  EXPECT_FALSE(none.tables);
  EXPECT_FALSE(none.reason.empty());
}

// Of the tables of Clopper and Pearson, and by what they promise.
TEST(DistanceBound, IsThatOfTheBinomial) {
  EXPECT_NEAR(upper_bound_of_share(0, 100), 1 - std::pow(0.05, 0.01), 1e-12);
  EXPECT_NEAR(upper_bound_of_share(5, 100), 0.102253, 1e-5);
  EXPECT_NEAR(upper_bound_of_share(50, 100), 0.5863783, 1e-6);
  EXPECT_EQ(upper_bound_of_share(7, 7), 1);
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::binomial_distribution<std::int64_t> draws(500, 0.01);
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) covered += upper_bound_of_share(draws(random), 500) >= 0.01;
  EXPECT_GE(covered, 1860);  // 0.95 less four standard deviations
}

}  // namespace
}  // namespace anesi

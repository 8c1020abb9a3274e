// Every pruner against brute force where that can be had, and against each other where it cannot.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/search/automaton_pruner.h"
#include "anesi/search/local_pruner.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;

std::vector<bool> allowed_worlds(const Pruner& pruner, const Row& output, const Row& partial, std::int64_t variable,
                                 std::int64_t domain) {
  const auto mask = std::make_unique<bool[]>(static_cast<std::size_t>(domain));
  pruner.allow_worlds(output, partial, variable, Mask(mask.get(), static_cast<std::size_t>(domain)));
  return std::vector<bool>(mask.get(), mask.get() + domain);
}

std::vector<bool> allowed_outputs(const Pruner& pruner, const Row& partial, std::int64_t variable,
                                  std::int64_t domain) {
  const auto mask = std::make_unique<bool[]>(static_cast<std::size_t>(domain));
  pruner.allow_outputs(partial, variable, Mask(mask.get(), static_cast<std::size_t>(domain)));
  return std::vector<bool>(mask.get(), mask.get() + domain);
}

// Walks every prefix of `points` (all of one length, sorted) and compares what may follow it with what does.
template <typename Allowed>
std::int64_t walk_prefixes(const std::vector<Row>& points, std::size_t begin, std::size_t end, Row& partial,
                           std::size_t depth, const Allowed& allowed) {
  if (depth == partial.size()) return 0;
  const auto mask = allowed(partial, static_cast<std::int64_t>(depth));
  std::int64_t prefixes = 1;
  std::vector<bool> expected(mask.size(), false);
  for (auto first = begin; first < end;) {
    auto last = first;
    const auto value = points[first][depth];
    while (last < end && points[last][depth] == value) ++last;
    expected[static_cast<std::size_t>(value)] = true;
    partial[depth] = value;
    prefixes += walk_prefixes(points, first, last, partial, depth + 1, allowed);
    partial[depth] = kUnset;
    first = last;
  }
  EXPECT_EQ(mask, expected) << "at depth " << depth << " below " << testing::PrintToString(partial);
  return prefixes;
}

class AdditionPruner : public testing::TestWithParam<std::int64_t> {};

TEST_P(AdditionPruner, EqualsBruteForceOnEveryPrefixOfEveryOutput) {
  const toys::Addition addition(GetParam());
  const auto pruner = addition.facts().share<Pruner>();
  std::map<Row, std::vector<Row>> worlds_of;
  addition.worlds().for_each_point(
      [&](Values world) { worlds_of[apply_to(addition, world)].emplace_back(world.begin(), world.end()); });
  std::int64_t prefixes = 0;
  Row partial(static_cast<std::size_t>(addition.worlds().variables()), kUnset);
  for (const auto& entry : worlds_of) {
    const auto& worlds = entry.second;
    prefixes += walk_prefixes(worlds, 0, worlds.size(), partial, 0, [&](const Row& chosen, std::int64_t variable) {
      return allowed_worlds(*pruner, entry.first, chosen, variable, 10);
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(prefixes, addition.worlds().points() / 10);
  std::vector<Row> outputs;
  for (const auto& [output, worlds] : worlds_of) outputs.push_back(output);
  Row nothing(static_cast<std::size_t>(addition.outputs().variables()), kUnset);
  walk_prefixes(outputs, 0, outputs.size(), nothing, 0, [&](const Row& chosen, std::int64_t variable) {
    return allowed_outputs(*pruner, chosen, variable, addition.outputs().domain(variable));
  });
}

TEST_P(AdditionPruner, KnowsWhichOutputsCannotBe) {
  // Twice 99…9 is 199…8: one more is in the space of outputs but is no sum.
  const toys::Addition addition(GetParam());
  const auto pruner = addition.facts().share<Pruner>();
  Row output(static_cast<std::size_t>(GetParam()) + 1, 9);
  output[0] = 1;
  const Row nothing(2 * static_cast<std::size_t>(GetParam()), kUnset);
  EXPECT_EQ(allowed_worlds(*pruner, output, nothing, 0, 10), std::vector<bool>(10, false));
}

TEST(AutomatonPruner, AValueOutsideItsDomainHasNoCompletion) {
  const toys::Addition addition(1);
  for (const auto& output : {Row{2, 5}, Row{0, 10}, Row{kNone, kNone}}) {
    EXPECT_EQ(allowed_worlds(*addition.facts().find<Pruner>(), output, {kUnset, kUnset}, 0, 10),
              std::vector<bool>(10, false));
  }
}

INSTANTIATE_TEST_SUITE_P(Digits, AdditionPruner, testing::Values(1, 2, 3));

// Partial worlds and outputs with holes anywhere, as a model that chooses in its own order makes them.
TEST(AutomatonPruner, EqualsBruteForceWhateverIsChosenFirst) {
  const toys::Addition addition(2);
  const auto pruner = addition.facts().share<Pruner>();
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto draw = [&](int size) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(size)); };
  for (int trial = 0; trial < 200; ++trial) {
    Row partial(4, kUnset), output = apply_to(addition, Row{draw(10), draw(10), draw(10), draw(10)});
    for (auto& value : partial) value = draw(2) == 0 ? kUnset : draw(10);
    const auto variable = draw(4);
    partial[static_cast<std::size_t>(variable)] = kUnset;
    std::vector<bool> expected(10, false);
    addition.worlds().for_each_point([&](Values world) {
      for (std::size_t index = 0; index < 4; ++index) {
        if (partial[index] != kUnset && partial[index] != world[index]) return;
      }
      if (apply_to(addition, world) == output)
        expected[static_cast<std::size_t>(world[static_cast<std::size_t>(variable)])] = true;
    });
    EXPECT_EQ(allowed_worlds(*pruner, output, partial, variable, 10), expected) << testing::PrintToString(partial);
  }
}

TEST(SatPruner, AValueOutsideItsDomainHasNoCompletion) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const auto sat = make_sat_pruner(toys::Addition(1));
  for (const auto& output : {Row{2, 5}, Row{0, 10}, Row{kNone, kNone}}) {
    EXPECT_EQ(allowed_worlds(*sat, output, {kUnset, kUnset}, 0, 10), std::vector<bool>(10, false));
  }
}

TEST(SatPruner, IsThereWhereCadicalIs) {
  if (this_build().cadical) {
    EXPECT_NE(make_sat_pruner(toys::Addition(1)), nullptr);
  } else {
    EXPECT_THROW(make_sat_pruner(toys::Addition(1)), Error);
  }
}

TEST(SatPruner, EqualsTheAdditionPrunerOnRandomPrefixes) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const toys::Addition addition(6);
  const auto exact = addition.facts().share<Pruner>();
  const auto sat = make_sat_pruner(addition);
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto draw = [&](unsigned size) { return static_cast<std::int64_t>(random() % size); };
  int refused = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Row world(12), partial(12, kUnset);
    for (auto& digit : world) digit = draw(10);
    auto output = apply_to(addition, world);
    if (trial % 4 == 0) output[static_cast<std::size_t>(draw(7))] = 1;  // perhaps no sum any more
    const auto length = draw(12);
    for (std::int64_t index = 0; index < length; ++index) {
      // Mostly the way to the world, sometimes off it.
      partial[static_cast<std::size_t>(index)] = draw(20) == 0 ? draw(10) : world[static_cast<std::size_t>(index)];
    }
    const auto expected = allowed_worlds(*exact, output, partial, length, 10);
    refused += std::ranges::count(expected, true) == 0;
    ASSERT_EQ(allowed_worlds(*sat, output, partial, length, 10), expected) << testing::PrintToString(partial);
    Row prefix(7, kUnset);
    const auto known = draw(7);
    for (std::int64_t index = 0; index < known; ++index)
      prefix[static_cast<std::size_t>(index)] = draw(index == 0 ? 2 : 10);
    const auto domain = addition.outputs().domain(known);
    ASSERT_EQ(allowed_outputs(*sat, prefix, known, domain), allowed_outputs(*exact, prefix, known, domain));
  }
  EXPECT_GT(refused, 20) << "too few prefixes without a completion to tell";
  EXPECT_THROW(make_sat_pruner(*make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; })),
               Error);
}

TEST(LocalPruner, NeverForbidsWhatCanBeCompletedAndSeesWhatAConstraintSees) {
  // Three cells that differ from their neighbours; the outputs say whether each pair does.
  const auto problem = make_problem(Space::uniform(3, 2), Space{2, 2}, [](Values w, MutableValues y) {
    y[0] = w[0] != w[1] ? 1 : 0;
    y[1] = w[1] != w[2] ? 1 : 0;
  });
  const auto pair = [](std::int64_t first, std::int64_t second, std::int64_t output) {
    return LocalConstraint{
        {first, second}, {output}, [](Values w, Values y) { return (w[0] != w[1] ? 1 : 0) == y[0]; }};
  };
  const auto pruner = make_local_pruner(problem->worlds(), problem->outputs(), {pair(0, 1, 0), pair(1, 2, 1)});
  EXPECT_EQ(allowed_worlds(*pruner, {1, 0}, {kUnset, kUnset, kUnset}, 0, 2), (std::vector{true, true}));
  EXPECT_EQ(allowed_worlds(*pruner, {1, 0}, {0, kUnset, kUnset}, 1, 2), (std::vector{false, true}));
  EXPECT_EQ(allowed_worlds(*pruner, {1, 0}, {0, 1, kUnset}, 2, 2), (std::vector{false, true}));
  EXPECT_EQ(allowed_outputs(*pruner, {kUnset, kUnset}, 1, 2), (std::vector{true, true}));
  // Cell 2 is known and cell 0 is asked: no single constraint sees both, so nothing is forbidden.
  EXPECT_EQ(allowed_worlds(*pruner, {1, 0}, {kUnset, kUnset, 0}, 0, 2), (std::vector{true, true}));
  EXPECT_THROW(make_local_pruner(problem->worlds(), problem->outputs(), {pair(0, 3, 0)}), Error);
}

}  // namespace
}  // namespace anesi

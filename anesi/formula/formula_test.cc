#include "anesi/formula/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/formula/constraint.h"
#include "anesi/io/files.h"
#include "anesi/logic/random_formula.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

Dimacs formula(const std::string& text) { return parse_dimacs(text, "test"); }

// That log p(output|P) of the compiled formula is the sum over all worlds.
void expect_right_counts(const Problem& problem, Values output, toys::Chances& chances) {
  const auto compiled = compiled_formula(problem);
  const auto& [circuit, encoding] = *compiled;
  const toys::Oracle oracle(problem);
  for (int example = 0; example < 5; ++example) {
    const auto belief = toys::random_log_belief(chances, problem.worlds());
    Circuit::Weights weights(circuit.places(), 0.0);
    for (std::size_t variable = 0; variable < belief.size(); ++variable) {
      for (std::size_t value = 0; value < belief[variable].size(); ++value) {
        weights[circuit.place_of(encoding.worlds[variable][value])] = belief[variable][value];
      }
    }
    for (std::size_t variable = 0; variable < encoding.outputs.size(); ++variable) {
      for (std::size_t value = 0; value < encoding.outputs[variable].size(); ++value) {
        if (static_cast<std::int64_t>(value) == output[variable]) continue;
        weights[circuit.place_of(encoding.outputs[variable][value])] = toys::Oracle::kNever;
      }
    }
    const double truth = oracle.log_prob(belief, {.output = {output.begin(), output.end()}});
    const double counted = circuit.log_count(weights);
    if (truth == toys::Oracle::kNever) {
      EXPECT_EQ(counted, truth);
    } else {
      EXPECT_NEAR(counted, truth, 1e-9);
    }
  }
}

constexpr std::int64_t kHolds[] = {kSatisfied};

// One of three colours; a switch that is on for red alone.
constexpr const char* kColours = "p cnf 4 6\n1 2 3 0\n-1 -2 0\n-1 -3 0\n-2 -3 0\n-1 4 0\n1 -4 0\n";

TEST(Formula, VariablesOfWhichExactlyOneHoldsAreOne) {
  EXPECT_EQ(exactly_one_groups(formula(kColours)), (std::vector<std::vector<int>>{{1, 2, 3}}));
  EXPECT_TRUE(exactly_one_groups(formula("p cnf 3 3\n1 2 3 0\n-1 -2 0\n-1 -3 0\n")).empty()) << "2 and 3 may both hold";
  const auto problem = formula_problem(formula(kColours));
  EXPECT_EQ(problem->worlds().domains(), (std::vector<std::int64_t>{3, 2}));
}

// Of a group of which inputs tell some, the others are what is left.
TEST(Formula, WhatInputsTellOfAGroupIsNotJoined) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  using Domains = std::vector<std::int64_t>;
  const auto two_left = formula_problem(formula(kColours), {.told = {2}});
  EXPECT_EQ(two_left->worlds().domains(), (Domains{2, 2, 2})) << "2; 1 or 3; 4";
  for (const auto& [world, holds] : std::vector<std::pair<Domains, std::int64_t>>{
           {{0, 0, 1}, 1}, {{0, 0, 0}, 0}, {{0, 1, 0}, 1}, {{1, 0, 0}, 1}, {{1, 1, 0}, 1}, {{1, 0, 1}, 0}}) {
    EXPECT_EQ(apply_to(*two_left, world)[0], holds) << world[0] << world[1] << world[2];
  }
  const auto none_left = formula_problem(formula(kColours), {.told = {3, 1}});
  EXPECT_EQ(none_left->worlds().domains(), (Domains{2, 2, 2})) << "3; 1; 4, and 2 follows";
  EXPECT_EQ(apply_to(*none_left, Domains{0, 1, 1})[0], 1);
  EXPECT_EQ(apply_to(*none_left, Domains{1, 0, 0})[0], 1);
  EXPECT_EQ(apply_to(*none_left, Domains{0, 0, 0})[0], 1);
  EXPECT_EQ(apply_to(*none_left, Domains{1, 1, 1})[0], 0);
  for (const auto& problem : {two_left, none_left}) {
    toys::Chances chances(1);
    expect_right_counts(*problem, kHolds, chances);
  }
  const auto clauses = formula_problem(formula(kColours), {.as = FormulaAs::kClauses, .told = {2}});
  EXPECT_EQ(clauses->worlds().domains(), (Domains{2, 2, 2, 2}));
  EXPECT_EQ(clauses->outputs().variables(), 6) << "the group's clauses tell something, too";
  EXPECT_THROW(formula_problem(formula(kColours), {.told = {1, 1}}), UsageError);
  EXPECT_THROW(formula_problem(formula(kColours), {.told = {5}}), UsageError);
}

TEST(Formula, IsAConstraint) {
  const auto problem = formula_problem(formula(kColours));
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 1})[0], 1);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 0})[0], 0);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{2, 0})[0], 1);
  EXPECT_EQ(problem->facts().find<CompiledFormula>()->circuit.models(), 3);
}

TEST(Formula, TellsTheTruthOfItsClauses) {
  const auto problem = formula_problem(formula(kColours), {.as = FormulaAs::kClauses});
  EXPECT_EQ(problem->outputs().domains(), (std::vector<std::int64_t>{2, 2})) << "what groups say is always true";
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 0}), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 1}), (std::vector<std::int64_t>{1, 0}));
}

TEST(Formula, DefinesOutputs) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const auto problem =
      formula_problem(formula(std::string(kColours) + "c p show 1 2 3 0\n"), {.as = FormulaAs::kDefinition});
  EXPECT_EQ(problem->worlds().domains(), std::vector<std::int64_t>{3});
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0})[0], 1);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{2})[0], 0);
}

TEST(Formula, SaysWhatCannotBeAProblem) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const auto asked = [](const std::string& text, FormulaOptions options = {}) {
    return toys::message_of([&] { formula_problem(formula(text), options); });
  };
  EXPECT_NE(asked("p cnf 1 2\n1 0\n-1 0\n"), "no error");
  // 2 follows from 1 alone where 1 holds: of a constraint it is projected out, unless it must be defined.
  EXPECT_EQ(asked("p cnf 2 1\nc p show 1 0\n-1 2 0\n"), "no error");
  EXPECT_TRUE(toys::names(asked("p cnf 2 1\nc p show 1 0\n-1 2 0\n", {.defined = true}), {"variable 2"}));
  EXPECT_TRUE(toys::names(asked("p cnf 2 1\nc p show 1 0\n-1 2 0\n", {.as = FormulaAs::kDefinition}), {"variable 2"}));
  // 3 is defined, but a world in which both hold has no output.
  EXPECT_TRUE(toys::names(asked("p cnf 3 3\nc p show 1 2 0\n-1 -2 0\n-3 1 0\n3 -1 0\n", {.as = FormulaAs::kDefinition}),
                          {"(1, 1)"}));
  EXPECT_NE(asked("p cnf 2 1\n1 2 0\n", {.as = FormulaAs::kDefinition}), "no error");
  EXPECT_TRUE(toys::names(asked("p cnf 2 1\nc p show 1 0\n1 2 0\n", {.as = FormulaAs::kClauses}), {"variable 2"}));
}

TEST(Formula, HiddenVariablesCountOnce) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  // 3 is 1 xor 2, and must hold.
  const auto problem =
      formula_problem(formula("p cnf 3 5\nc p show 1 2 0\n-3 1 2 0\n-3 -1 -2 0\n3 -1 2 0\n3 1 -2 0\n3 0\n"));
  toys::Chances chances(1);
  expect_right_counts(*problem, kHolds, chances);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 0})[0], 1);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 1})[0], 0);
}

TEST(Formula, WhatInputsTellComesFirst) {
  const auto problem = formula_problem(formula("p cnf 3 1\n-1 3 0\n"), {.told = {3}});
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 1, 0})[0], 0) << "3 does not hold, 1 does";
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{1, 1, 0})[0], 1);
}

// All three forms of random formulas, against going through every world.
TEST(Formula, CountsAsEnumerationDoes) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    Dimacs drawn;
    drawn.variables = 4 + static_cast<int>(random() % 4);
    for (std::uint64_t clause = 0; clause < 3 + random() % 8; ++clause) {
      auto& literals = drawn.clauses.emplace_back();
      for (int place = 0; place < 3; ++place) {
        const auto variable = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(drawn.variables));
        literals.push_back(random() % 2 == 0 ? variable : -variable);
      }
    }
    for (const auto as : {FormulaAs::kConstraint, FormulaAs::kClauses}) {
      std::shared_ptr<const Problem> problem;
      try {
        problem = formula_problem(drawn, {.as = as});
      } catch (const Error&) {
        continue;  // no model
      }
      Random worlds(random());
      const auto world = random_points(problem->worlds(), 1, worlds);
      toys::Chances chances(random());
      expect_right_counts(*problem, as == FormulaAs::kConstraint ? Values(kHolds) : apply(*problem, world)[0], chances);
    }
  }
}

// What is encoded already, of variables of two values and of three.
TEST(Formula, IsAProblemOfItsEncoding) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  Cnf mixed(Encoding{.worlds = {{-1, 1}, {2, 3, 4}}}, 4, {{-1, 2}});
  mixed.exactly_one({2, 3, 4});
  for (const auto& cnf : {mixed, random_formula(8, 12, 3, random)}) {
    const auto solved = formula_problem(cnf, /*seconds=*/0), compiled = formula_problem(cnf);
    EXPECT_EQ(solved->facts().find<CompiledFormula>(), nullptr);
    EXPECT_EQ(solved->facts().find<AskedOutput>()->output, std::vector<std::int64_t>{kSatisfied});
    EXPECT_TRUE(cnf.encoding().fits(solved->worlds(), solved->outputs()));
    const std::vector<std::int64_t> open(static_cast<std::size_t>(solved->worlds().variables()), kUnset);
    std::array<bool, 3> allowed{}, found{};
    const Mask mask(allowed.data(), static_cast<std::size_t>(solved->worlds().domain(0)));
    solved->facts().find<Pruner>()->allow_worlds(std::vector<std::int64_t>{kSatisfied}, open, 0, mask);
    solved->worlds().for_each_point([&](Values world) {
      const auto holds = apply_to(*solved, world);
      EXPECT_EQ(holds, apply_to(*compiled, world));
      if (holds[0] == kSatisfied) found[static_cast<std::size_t>(world[0])] = true;
    });
    EXPECT_EQ(allowed, found);
  }
  EXPECT_THROW(formula_problem(Cnf(Encoding{.worlds = {{-1, 1}}}, 1, {{1}, {-1}})), Error);
  Cnf negation(Space{2}, Space{2});
  for (const auto sign : {1, -1}) negation.add({sign * negation.world(0, 1), sign * negation.output(0, 1)});
  const auto problem = formula_problem(negation);
  EXPECT_EQ(problem->facts().find<AskedOutput>(), nullptr);
  for (const std::int64_t value : {0, 1}) EXPECT_EQ(apply_to(*problem, Values(&value, 1))[0], 1 - value);
}

TEST(Formula, IsReadFromFilesOfOtherTools) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "either.nnf";
  write_file_atomically(file, "nnf 5 4 2\nL 1\nL -1\nL 2\nA 2 1 2\nO 1 2 0 3\n");
  const auto problem = read_formula_problem(file);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 1})[0], 1);
  EXPECT_EQ(apply_to(*problem, std::vector<std::int64_t>{0, 0})[0], 0);
  EXPECT_THROW(read_formula_problem(file, {.as = FormulaAs::kClauses}), Error);
}

}  // namespace
}  // namespace anesi

#include "anesi/logic/decision_compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "anesi/core/interrupt.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/logic/random_formula.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/model_counter.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using Clauses = std::vector<std::vector<int>>;

bool is_true(int literal, unsigned world) {
  return ((world >> (std::abs(literal) - 1)) & 1U) == (literal > 0 ? 1U : 0U);
}

bool holds(const Clauses& clauses, unsigned world) {
  return std::ranges::all_of(clauses, [&](const auto& clause) {
    return std::ranges::any_of(clause, [&](int literal) { return is_true(literal, world); });
  });
}

// Clauses of one to four literals, of which some may be of one variable.
Clauses some_clauses(int variables, int count, std::mt19937_64& random) {
  Clauses clauses(static_cast<std::size_t>(count));
  for (auto& clause : clauses) {
    for (auto length = 1 + random() % 3 + (random() % 2); length > 0; --length) {
      const auto variable = 1 + static_cast<int>(random() % static_cast<unsigned>(variables));
      clause.push_back(random() % 2 == 0 ? variable : -variable);
    }
  }
  return clauses;
}

struct Drawn {
  int variables;
  Clauses clauses;
  std::vector<int> hidden;
  std::vector<double> weights;  // [literal + variables]

  // Of the assignments that `counted` keeps, hidden variables taken as false, each once.
  template <typename Counted>
  double count(Counted counted) const {
    double sum = 0;
    std::set<unsigned> seen;
    for (unsigned world = 0; world < 1U << variables; ++world) {
      auto visible = world;
      for (const auto variable : hidden) visible &= ~(1U << (variable - 1));
      if (!counted(world) || !seen.insert(visible).second) continue;
      double product = 1;
      for (int variable = 1; variable <= variables; ++variable) {
        const auto literal = is_true(variable, visible) ? variable : -variable;
        product *= weights[static_cast<std::size_t>(literal + variables)];
      }
      sum += product;
    }
    return sum;
  }
  double count(const Circuit& circuit) const {
    auto logs = weights;
    for (auto& weight : logs) weight = std::log(weight);
    return std::exp(circuit.log_count(logs));
  }
};

Drawn draw(std::mt19937_64& random) {
  Drawn drawn;
  drawn.variables = 2 + static_cast<int>(random() % 10);
  drawn.clauses = some_clauses(drawn.variables, static_cast<int>(random() % 20), random);
  for (int variable = 1; variable <= drawn.variables; ++variable) {
    if (random() % 3 == 0) drawn.hidden.push_back(variable);
  }
  drawn.weights.resize(2 * static_cast<std::size_t>(drawn.variables) + 1);
  for (auto& weight : drawn.weights) weight = std::uniform_real_distribution<double>(0.05, 2)(random);
  for (const auto variable : drawn.hidden) drawn.weights[static_cast<std::size_t>(drawn.variables - variable)] = 1;
  return drawn;
}

TEST(DecisionCompiler, CountsAsEnumerationDoes) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 500; ++trial) {
    auto drawn = draw(random);
    drawn.hidden.clear();
    const auto expected = drawn.count([&](unsigned world) { return holds(drawn.clauses, world); });
    // The smaller cache forgets all the time.
    for (const std::size_t cache : {1U << 20, 600U}) {
      const auto circuit = compile_by_decisions(drawn.variables, drawn.clauses, {}, {.cache_bytes = cache});
      ASSERT_NEAR(drawn.count(circuit), expected, 1e-9 * expected) << "trial " << trial;
      if (circuit.satisfiable()) check_deterministic(circuit, 3, "compiled");
    }
  }
}

TEST(DecisionCompiler, CountsWhatExtendsToAModelOnce) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  int projected = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const auto drawn = draw(random);
    const auto expected = drawn.count([&](unsigned world) { return holds(drawn.clauses, world); });
    const auto circuit = Circuit::compile_projected(drawn.variables, drawn.clauses, drawn.hidden);
    ASSERT_NEAR(drawn.count(circuit), expected, 1e-9 * expected) << "trial " << trial;
    if (circuit.satisfiable()) check_deterministic(circuit, 3, "projected");
    projected += circuit.models() < Circuit::compile(drawn.variables, drawn.clauses).models() ? 1 : 0;
  }
  EXPECT_GT(projected, 100) << "the formulas are too simple to tell";
}

TEST(DecisionCompiler, ComplementIsWhatNoHiddenValueSatisfies) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const auto drawn = draw(random);
    auto rules = some_clauses(drawn.variables, static_cast<int>(random() % 3), random);
    for (const auto variable : drawn.hidden) rules.push_back({-variable});
    std::set<unsigned> satisfied;
    const auto visible = [&](unsigned world) {
      for (const auto variable : drawn.hidden) world &= ~(1U << (variable - 1));
      return world;
    };
    for (unsigned world = 0; world < 1U << drawn.variables; ++world) {
      if (holds(drawn.clauses, world)) satisfied.insert(visible(world));
    }
    const auto expected =
        drawn.count([&](unsigned world) { return !satisfied.contains(visible(world)) && holds(rules, world); });
    const auto circuit = Circuit::compile(drawn.variables, drawn.clauses);
    ASSERT_NEAR(drawn.count(complement_by_decisions(circuit, drawn.hidden, rules, {})), expected, 1e-9 * expected);
    ASSERT_NEAR(drawn.count(circuit.complement(drawn.hidden, rules)), expected, 1e-9 * expected);
  }
}

TEST(DecisionCompiler, ProjectedFormulasCountAWorldOnce) {
  // Variable 2 is hidden, and free if 1 holds.
  Cnf cnf({.worlds = {{-1, 1}, {-3, 3}}}, 3, {{1, 2}, {3, 1, -2}});
  EXPECT_EQ(compiled_formula(cnf)->circuit.models(), 5);
  cnf.project();
  EXPECT_EQ(cnf.further_variables(), (std::vector<int>{2}));
  const auto formula = compiled_formula(cnf);
  EXPECT_EQ(formula->circuit.models(), 3);
  EXPECT_EQ(violations_of(*formula).models(), 1);
  EXPECT_TRUE(satisfies(*formula, std::vector<std::int64_t>{0, 1}));
  EXPECT_FALSE(satisfies(*formula, std::vector<std::int64_t>{0, 0}));
}

TEST(DecisionCompiler, HandlesFormulasWithoutClausesAndWithoutModels) {
  EXPECT_EQ(Circuit::compile(3, {}).models(), 8);
  EXPECT_EQ(Circuit::compile(3, {{1, -1}, {2, 2}}).models(), 4);
  EXPECT_FALSE(Circuit::compile(3, {{}}).satisfiable());
  EXPECT_FALSE(Circuit::compile(3, {{1}, {-1, 2}, {-2}}).satisfiable());
  EXPECT_EQ(Circuit::compile_projected(2, {{1, 2}}, {1, 2}).models(), 1);
  EXPECT_TRUE(toys::names(toys::message_of([] { Circuit::compile(2, {{1, 3}}); }), {"literal 3", "2 variables"}));
  EXPECT_TRUE(toys::names(toys::message_of([] { Circuit::compile(2, {{0}}); }), {"literal 0"}));
}

// Deep, but simple: what is left falls apart at each step.
TEST(DecisionCompiler, HandlesLongChains) {
  constexpr int kVariables = 1000;
  Clauses chain;
  for (int variable = 1; variable < kVariables; ++variable) chain.push_back({-variable, variable + 1});
  const auto circuit = Circuit::compile(kVariables, chain);
  EXPECT_EQ(circuit.models(), kVariables + 1);
}

TEST(DecisionCompiler, EndsWhenItShould) {
  std::mt19937_64 random(5);
  const auto hard = random_formula(200, 500, 3, random);
  const auto compile = [&](CompilerLimits limits) {
    return toys::message_of([&] { compile_by_decisions(200, hard.clauses(), {}, limits); });
  };
  EXPECT_TRUE(toys::names(compile({.seconds = 0.2}), {"did not compile in 0.2 s"}));
  EXPECT_TRUE(toys::names(compile({.nodes = 1000}), {"too large", "1000 nodes"}));
  struct Stopped {};
  const InterruptCheck interrupt([] { throw Stopped(); });
  EXPECT_THROW(compile_by_decisions(200, hard.clauses(), {}, {}), Stopped);
}

// Where clauses must be learned and forgotten.
TEST(DecisionCompiler, CountsFormulasWithManyConflicts) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 20; ++trial) {
    const auto formula = random_formula(26, 26 * 4, 3, random);
    const std::vector<double> ones(2 * 26 + 1, 1);
    EXPECT_EQ(Circuit::compile(26, formula.clauses()).models(),
              static_cast<double>(toys::ModelCounter(26, ones).count(formula.clauses())));
  }
}

}  // namespace
}  // namespace anesi

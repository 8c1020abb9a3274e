// Circuits that libsdd compiles against a model counter of another kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "anesi/logic/circuit.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/testing/model_counter.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using Clauses = std::vector<std::vector<int>>;

// Formulas that compile and that the counter of the tests counts: clauses are local in the variables' order.
class Instances {
 public:
  explicit Instances(std::uint64_t seed) : random_(seed) {}

  struct Instance {
    std::string name;
    int variables;
    Clauses clauses;
  };

  // Clauses of up to `length` literals within windows.
  Instance windows(int variables, int window, int length, double density) {
    Clauses clauses;
    for (int count = 0; count < static_cast<int>(density * variables); ++count) {
      const int first = 1 + below(variables - window + 1);
      std::set<int> chosen;
      while (static_cast<int>(chosen.size()) < length) chosen.insert(first + below(window));
      std::vector<int> clause;
      for (const auto variable : chosen) clause.push_back(below(2) == 0 ? variable : -variable);
      clauses.push_back(clause);
    }
    // libsdd is quick where it takes them in their order.
    std::ranges::sort(clauses, {}, [](const auto& clause) { return std::abs(clause.back()); });
    return {fmt::format("windows of {}", window), variables, clauses};
  }

  // The same, where a hidden assignment is a model.
  Instance planted(int variables, int window, double density) {
    auto instance = windows(variables, window, 3, density);
    std::vector<bool> hidden;
    for (int variable = 0; variable <= variables; ++variable) hidden.push_back(below(2) == 0);
    for (auto& clause : instance.clauses) {
      const auto holds = [&](int literal) {
        return hidden[static_cast<std::size_t>(std::abs(literal))] == (literal > 0);
      };
      if (std::ranges::none_of(clause, holds)) clause[0] = -clause[0];
    }
    instance.name = "planted";
    return instance;
  }

  // Cells of a grid, of which some neighbours may not both be true, or one implies the other.
  Instance grid(int width, int height) {
    Clauses clauses;
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        const int cell = 1 + row * width + column;
        if (column + 1 < width) clauses.push_back({-cell, below(2) == 0 ? -(cell + 1) : cell + 1});
        if (row + 1 < height) clauses.push_back({-cell, below(2) == 0 ? -(cell + width) : cell + width});
      }
    }
    return {fmt::format("grid {}x{}", width, height), width * height, clauses};
  }

  // Groups of pigeons, each in one of the holes of its group, no two in one, and neighbouring groups that hinder each
  // other.
  Instance pigeons(int groups, int pigeons, int holes) {
    Clauses clauses;
    const auto in = [&](int group, int pigeon, int hole) { return 1 + (group * pigeons + pigeon) * holes + hole; };
    for (int group = 0; group < groups; ++group) {
      for (int pigeon = 0; pigeon < pigeons; ++pigeon) {
        clauses.emplace_back();
        for (int hole = 0; hole < holes; ++hole) clauses.back().push_back(in(group, pigeon, hole));
        for (int hole = 0; hole < holes; ++hole) {
          for (int other = hole + 1; other < holes; ++other) {
            clauses.push_back({-in(group, pigeon, hole), -in(group, pigeon, other)});
          }
          for (int other = pigeon + 1; other < pigeons; ++other) {
            clauses.push_back({-in(group, pigeon, hole), -in(group, other, hole)});
          }
        }
      }
      if (group > 0)
        clauses.push_back({-in(group - 1, below(pigeons), below(holes)), -in(group, below(pigeons), below(holes))});
    }
    return {fmt::format("{} groups of {} pigeons in {} holes", groups, pigeons, holes), groups * pigeons * holes,
            clauses};
  }

  // A tree in which each variable depends on one shortly before it.
  Instance tree(int variables) {
    Clauses clauses;
    for (int variable = 2; variable <= variables; ++variable) {
      const int parent = std::max(1, variable - 1 - below(4));
      clauses.push_back({below(2) == 0 ? parent : -parent, below(2) == 0 ? variable : -variable});
    }
    return {"tree", variables, clauses};
  }

  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  double weight() { return std::uniform_real_distribution<double>(0.05, 1)(random_); }

 private:
  std::mt19937_64 random_;
};

void expect_same_count(const Instances::Instance& instance, Instances& random) {
  SCOPED_TRACE(fmt::format("{}: {} variables, {} clauses", instance.name, instance.variables, instance.clauses.size()));
  std::vector<double> weights(2 * static_cast<std::size_t>(instance.variables) + 1, 1);
  for (auto& weight : weights) weight = random.weight();
  const auto expected = toys::ModelCounter(instance.variables, weights).count(instance.clauses);
  const auto circuit = Circuit::compile(instance.variables, instance.clauses, 60);
  for (auto& weight : weights) weight = std::log(weight);
  const auto found = circuit.log_count(weights);
  if (expected == 0) {
    EXPECT_EQ(found, -std::numeric_limits<double>::infinity());
    return;
  }
  EXPECT_NEAR(found, static_cast<double>(std::log(expected)), 1e-9);
  check_deterministic(circuit, 5, "compiled");
  const auto again = parse_nnf(to_nnf(circuit), "again");
  EXPECT_NEAR(again.log_count(weights), found, 1e-9);
}

TEST(ModelCounter, CountsAsEnumerationDoes) {
  const toys::RandomSeed seed;
  Instances random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const auto instance = random.windows(3 + random.below(8), 3, 1 + random.below(3), 0.3 + 0.2 * random.below(10));
    std::vector<double> weights(2 * static_cast<std::size_t>(instance.variables) + 1, 1);
    for (auto& weight : weights) weight = random.weight();
    double expected = 0;
    for (unsigned world = 0; world < 1U << instance.variables; ++world) {
      const auto holds = [&](int literal) {
        return (world >> (std::abs(literal) - 1) & 1U) == (literal > 0 ? 1U : 0U);
      };
      if (!std::ranges::all_of(instance.clauses,
                               [&](const auto& clause) { return std::ranges::any_of(clause, holds); })) {
        continue;
      }
      double product = 1;
      for (int variable = 1; variable <= instance.variables; ++variable) {
        product *= weights[static_cast<std::size_t>(instance.variables + (holds(variable) ? variable : -variable))];
      }
      expected += product;
    }
    ASSERT_NEAR(static_cast<double>(toys::ModelCounter(instance.variables, weights).count(instance.clauses)), expected,
                1e-9 * expected);
  }
}

TEST(CompiledCircuits, CountWindowsAsTheCounterDoes) {
  const toys::RandomSeed seed;
  Instances random(seed);
  for (const int variables : {50, 60, 80}) expect_same_count(random.windows(variables, 5, 3, 1.5), random);
  for (const int variables : {100, 130}) expect_same_count(random.windows(variables, 4, 3, 0.9), random);
  expect_same_count(random.windows(50, 6, 4, 2), random);
}

TEST(CompiledCircuits, CountPlantedFormulasAsTheCounterDoes) {
  const toys::RandomSeed seed;
  Instances random(seed);
  for (const int variables : {50, 60, 80}) expect_same_count(random.planted(variables, 5, 2), random);
  expect_same_count(random.planted(120, 4, 1), random);
}

TEST(CompiledCircuits, CountGridsAsTheCounterDoes) {
  const toys::RandomSeed seed;
  Instances random(seed);
  for (const auto& [width, height] : {std::pair{3, 20}, {4, 15}, {5, 12}, {4, 30}, {3, 60}}) {
    expect_same_count(random.grid(width, height), random);
  }
}

TEST(CompiledCircuits, CountPigeonsAndTreesAsTheCounterDoes) {
  const toys::RandomSeed seed;
  Instances random(seed);
  expect_same_count(random.pigeons(6, 3, 3), random);
  expect_same_count(random.pigeons(5, 3, 4), random);
  expect_same_count(random.pigeons(6, 4, 3), random);
  for (const int variables : {100, 200}) expect_same_count(random.tree(variables), random);
}

}  // namespace
}  // namespace anesi

// Circuits from files against enumeration.
#include "anesi/logic/circuit_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "anesi/io/files.h"
#include "anesi/testing/damage.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using Model = std::vector<bool>;  // by variable; entry 0 is unused
constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum_of(const std::vector<double>& logs) {
  const double largest = *std::ranges::max_element(logs);
  double sum = 0;
  for (const auto log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

// What a circuit says, from the list of its models.
class Enumerated {
 public:
  Enumerated(int variables, std::vector<Model> models) : variables_(variables), models_(std::move(models)) {}

  std::size_t place(int literal) const { return static_cast<std::size_t>(literal + variables_); }
  std::size_t place(const Model& model, int variable) const {
    return place(model[static_cast<std::size_t>(variable)] ? variable : -variable);
  }

  std::vector<double> log_weights(const Circuit::Weights& weights) const {
    std::vector<double> logs;
    for (const auto& model : models_) {
      double log = 0;
      for (int variable = 1; variable <= variables_; ++variable) log += weights[place(model, variable)];
      logs.push_back(log);
    }
    return logs;
  }

  double entropy(const Circuit::Weights& weights) const {
    const auto logs = log_weights(weights);
    const auto total = log_sum_of(logs);
    double entropy = 0;
    for (const auto log : logs) {
      if (log > kNever) entropy -= std::exp(log - total) * (log - total);
    }
    return entropy;
  }

  void expect_counts(const Circuit& circuit, const Circuit::Weights& weights) const {
    const auto logs = log_weights(weights);
    const auto best = *std::ranges::max_element(logs);
    const auto total = best == kNever ? kNever : log_sum_of(logs);
    const auto tolerance = [](double value) { return 1e-9 * std::max(1.0, std::abs(value)); };
    Model model;
    Circuit::Weights derivative, by_entropy;
    if (total == kNever) {
      EXPECT_EQ(circuit.log_count(weights), kNever);
      EXPECT_EQ(circuit.log_count(weights, derivative), kNever);
      EXPECT_EQ(circuit.best_model(weights, model), kNever);
      EXPECT_EQ(circuit.entropy(weights, by_entropy), 0);
      return;
    }
    ASSERT_NEAR(circuit.log_count(weights), total, tolerance(total));
    ASSERT_NEAR(circuit.log_count(weights, derivative), total, tolerance(total));
    Circuit::Weights posterior(weights.size(), 0);
    for (std::size_t index = 0; index < models_.size(); ++index) {
      for (int variable = 1; variable <= variables_; ++variable) {
        posterior[place(models_[index], variable)] += std::exp(logs[index] - total);
      }
    }
    for (std::size_t literal = 0; literal < weights.size(); ++literal) {
      ASSERT_NEAR(derivative[literal], posterior[literal], 1e-8) << literal;
    }
    ASSERT_NEAR(circuit.best_model(weights, model), best, tolerance(best));
    const auto found = std::ranges::find(models_, model);
    ASSERT_NE(found, models_.end()) << "the best model is none";
    ASSERT_NEAR(logs[static_cast<std::size_t>(found - models_.begin())], best, tolerance(best));
    ASSERT_NEAR(circuit.entropy(weights, by_entropy), entropy(weights), 1e-7);
  }

  void expect_derivative_of_entropy(const Circuit& circuit, const Circuit::Weights& weights) const {
    constexpr double kStep = 1e-4;
    Circuit::Weights derivative;
    circuit.entropy(weights, derivative);
    for (int literal = -variables_; literal <= variables_; ++literal) {
      if (literal == 0 || weights[place(literal)] == kNever) continue;
      auto more = weights, less = weights;
      more[place(literal)] += kStep;
      less[place(literal)] -= kStep;
      ASSERT_NEAR(derivative[place(literal)], (entropy(more) - entropy(less)) / (2 * kStep), 1e-5) << literal;
    }
  }

  void expect_restriction(const Circuit& circuit, Circuit::OfLiterals<char> may_be_true) const {
    Circuit::OfLiterals<char> expected(may_be_true.size(), 0);
    bool any = false;
    for (const auto& model : models_) {
      bool possible = true;
      for (int variable = 1; variable <= variables_; ++variable) {
        possible = possible && may_be_true[place(model, variable)] != 0;
      }
      if (!possible) continue;
      any = true;
      for (int variable = 1; variable <= variables_; ++variable) expected[place(model, variable)] = 1;
    }
    EXPECT_EQ(circuit.restrict_to_models(may_be_true), any);
    EXPECT_EQ(may_be_true, expected);
  }

  // Everything, with weights of several kinds: moderate; with impossible literals; so small, so large or so far apart
  // that only their logarithms are numbers.
  void expect_all(const Circuit& circuit, std::mt19937_64& random, int trials) const {
    ASSERT_EQ(circuit.variables(), variables_);
    ASSERT_EQ(circuit.models(), static_cast<double>(models_.size()));
    struct Range {
      double least, most;
      unsigned impossible;  // so many literals of a hundred
    };
    for (const auto& [least, most, impossible] : {Range{-3, 0, 0}, Range{-3, 0, 5}, Range{-2000, -1990, 0},
                                                  Range{-2000, 0, 0}, Range{-1000, 1000, 3}, Range{300, 310, 0}}) {
      for (int trial = 0; trial < trials; ++trial) {
        SCOPED_TRACE(fmt::format("weights from {} to {}, trial {}", least, most, trial));
        Circuit::Weights weights(circuit.places(), 0);
        for (auto& weight : weights) {
          weight = random() % 100 < impossible ? kNever : std::uniform_real_distribution<double>(least, most)(random);
        }
        expect_counts(circuit, weights);
        if (trial == 0 && most - least < 100) expect_derivative_of_entropy(circuit, weights);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    for (int trial = 0; trial < 5 * trials; ++trial) {
      Circuit::OfLiterals<char> may_be_true(circuit.places(), 0);
      const auto rare = 2 + random() % 30;
      for (auto& may : may_be_true) may = static_cast<char>(random() % rare != 0);
      may_be_true[place(0)] = 0;
      expect_restriction(circuit, may_be_true);
    }
  }

  void expect_samples(const Circuit& circuit, const Circuit::Weights& weights, std::mt19937_64& random) const {
    constexpr int kSamples = 4000;
    const auto logs = log_weights(weights);
    const auto total = log_sum_of(logs);
    std::map<Model, double> shares;
    Model model;
    for (int sample = 0; sample < kSamples; ++sample) {
      circuit.sample_model(weights, model, [&] { return std::uniform_real_distribution<double>(0, 1)(random); });
      shares[model] += 1.0 / kSamples;
    }
    double seen = 0;
    for (std::size_t index = 0; index < models_.size(); ++index) {
      const auto share = shares[models_[index]];
      EXPECT_NEAR(share, std::exp(logs[index] - total), 0.05);
      seen += share;
    }
    EXPECT_NEAR(seen, 1, 1e-9) << "a sample is no model";
  }

  const std::vector<Model>& models() const { return models_; }

 private:
  int variables_;
  std::vector<Model> models_;
};

// Four things in an order: variable 4 i + j + 1 says that thing i is at place j. Found among all 65,536 assignments.
Enumerated permutations_of_four() {
  std::vector<Model> models;
  for (unsigned world = 0; world < 1U << 16; ++world) {
    bool is_one = true;
    for (unsigned line = 0; line < 4; ++line) {
      is_one = is_one && std::popcount(world >> 4 * line & 0xFU) == 1 && std::popcount(world >> line & 0x1111U) == 1;
    }
    if (!is_one) continue;
    Model model(17, false);
    for (std::size_t variable = 1; variable <= 16; ++variable) model[variable] = (world >> (variable - 1) & 1U) != 0;
    models.push_back(model);
  }
  return {16, models};
}

// Simple paths in a grid of 4x4 cells, from a cell to another. Cells are 4 row + column. Variables 1 to 24 are the
// edges: 1 + 3 row + column from a column to the next, 13 + 3 column + row from a row to the next; an edge is true
// where the path takes it. Variables 25 to 40 are the cells; the two at the ends of the path are true. A path and its
// reverse are the same model.
Enumerated paths_in_a_grid() {
  const auto edge = [](int one, int other) {
    const auto [low, high] = std::minmax(one, other);
    const int row = low / 4, column = low % 4;
    return static_cast<std::size_t>(high == low + 1 ? 1 + 3 * row + column : 13 + 3 * column + row);
  };
  std::vector<Model> models;
  Model model(41, false);
  std::vector<char> visited(16, 0);
  const std::function<void(int, int)> go_on = [&](int start, int cell) {
    const auto end = static_cast<std::size_t>(25 + cell);
    if (cell > start) {
      models.push_back(model);
      models.back()[static_cast<std::size_t>(25 + start)] = models.back()[end] = true;
    }
    visited[static_cast<std::size_t>(cell)] = 1;
    for (const int next : {cell - 4, cell + 4, cell % 4 > 0 ? cell - 1 : -1, cell % 4 < 3 ? cell + 1 : -1}) {
      if (next < 0 || next >= 16 || visited[static_cast<std::size_t>(next)] != 0) continue;
      model[edge(cell, next)] = true;
      go_on(start, next);
      model[edge(cell, next)] = false;
    }
    visited[static_cast<std::size_t>(cell)] = 0;
  };
  for (int start = 0; start < 16; ++start) go_on(start, start);
  return {40, models};
}

struct SddFiles {
  std::string sdd, vtree;
};

// An SDD of some models, deciding one variable after the other in the given order of two or more.
SddFiles sdd_of(const std::vector<Model>& models, const std::vector<int>& order) {
  const auto depth = order.size();
  SddFiles files;
  files.vtree = fmt::format("c a tree\nvtree {}\n", 2 * depth - 1);
  const auto tree_of = [&](std::size_t level) { return level + 1 == depth ? level : depth + level; };
  for (std::size_t level = 0; level < depth; ++level) files.vtree += fmt::format("L {} {}\n", level, order[level]);
  for (std::size_t level = depth - 1; level-- > 0;) {
    files.vtree += fmt::format("I {} {} {}\n", tree_of(level), level, tree_of(level + 1));
  }
  std::string lines = "F 0\nT 1\n";
  std::size_t nodes = 2;
  std::map<int, std::size_t> literals;
  for (std::size_t level = 0; level < depth; ++level) {
    for (const int literal : {order[level], -order[level]}) {
      lines += fmt::format("L {} {} {}\n", nodes, level, literal);
      literals[literal] = nodes++;
    }
  }
  std::map<std::array<std::size_t, 3>, std::size_t> known;  // by level and the two parts
  const std::function<std::size_t(std::size_t, std::vector<Model>)> decide =
      [&](std::size_t level, std::vector<Model> left) -> std::size_t {
    if (left.empty()) return 0;
    if (level == depth) return 1;
    const auto variable = static_cast<std::size_t>(order[level]);
    std::vector<Model> with, without;
    for (auto& model : left) (model[variable] ? with : without).push_back(std::move(model));
    const auto yes = decide(level + 1, std::move(with)), no = decide(level + 1, std::move(without));
    if (level + 1 == depth) return yes == no ? yes : literals[yes == 1 ? order[level] : -order[level]];
    auto& node = known[{level, yes, no}];
    if (node == 0) {
      node = nodes++;
      lines += fmt::format("D {} {} 2 {} {} {} {}\n", node, tree_of(level), literals[order[level]], yes,
                           literals[-order[level]], no);
    }
    return node;
  };
  const auto root = decide(0, models);
  if (root < 2) lines += fmt::format("{} {}\n", root == 0 ? "F" : "T", nodes++);
  files.sdd = fmt::format("c made for a test\nsdd {}\n{}", nodes, lines);
  return files;
}

std::vector<int> in_order(int variables) {
  std::vector<int> order;
  for (int variable = 1; variable <= variables; ++variable) order.push_back(variable);
  return order;
}

// A file that others made and that is not part of this repository. Where it is not there, an SDD of the same models is
// made here.
Circuit circuit_of_others(const std::string& name, const Enumerated& models, int variables) {
  const auto path =
      std::filesystem::path(__FILE__).parent_path() / "../../../shared/data/constraints" / (name + ".sdd");
  if (std::filesystem::exists(path)) return read_sdd(path);
  std::cout << name << ".sdd is not here; the test makes its own\n";
  const auto files = sdd_of(models.models(), in_order(variables));
  return parse_sdd(files.sdd, name, files.vtree, "vtree");
}

TEST(CircuitFiles, PermutationsAreAsEnumerationHasThem) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto expected = permutations_of_four();
  ASSERT_EQ(expected.models().size(), 24U);
  const auto circuit = circuit_of_others("permutation4", expected, 16);
  expected.expect_all(circuit, random, 20);
  expected.expect_all(parse_nnf(to_nnf(circuit), "again"), random, 2);
  Circuit::Weights weights(circuit.places(), 0);
  for (auto& weight : weights) weight = std::uniform_real_distribution<double>(-1, 1)(random);
  expected.expect_samples(circuit, weights, random);
  for (auto& weight : weights) weight -= 2000;
  expected.expect_samples(circuit, weights, random);
}

TEST(CircuitFiles, PathsInAGridAreAsEnumerationHasThem) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto expected = paths_in_a_grid();
  ASSERT_EQ(expected.models().size(), 14248U);
  const auto circuit = circuit_of_others("grid4-paths", expected, 40);
  expected.expect_all(circuit, random, 2);
  expected.expect_all(parse_nnf(to_nnf(circuit), "again"), random, 1);
}

TEST(CircuitFiles, RandomModelsComeBackThroughEveryFormat) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    const int variables = 2 + static_cast<int>(random() % 7);
    std::set<Model> models;
    for (auto count = 1 + random() % 40; count > 0; --count) {
      Model model(static_cast<std::size_t>(variables) + 1, false);
      for (std::size_t variable = 1; variable < model.size(); ++variable) model[variable] = random() % 2 == 0;
      models.insert(model);
    }
    const Enumerated expected(variables, {models.begin(), models.end()});
    auto order = in_order(variables);
    std::ranges::shuffle(order, random);
    const auto files = sdd_of(expected.models(), order);
    SCOPED_TRACE(files.vtree + files.sdd);
    const auto circuit = parse_sdd(files.sdd, "sdd", files.vtree, "vtree");
    expected.expect_all(circuit, random, 1);
    expected.expect_all(parse_nnf(to_nnf(circuit), "nnf"), random, 1);
    // D4's format: what was a sum becomes a node of type o, a product one of type a; in a random order.
    std::vector<std::string> lines{"t 999999 0"};
    const auto id = [&](std::int64_t node) { return circuit.nodes() - node; };  // the root is 1
    for (std::int64_t node = 0; node < circuit.nodes(); ++node) {
      const auto kind = circuit.kind(node);
      lines.push_back(fmt::format("{} {} 0", kind == Circuit::Kind::kSum ? "o" : "a", id(node)));
      if (kind == Circuit::Kind::kLiteral)
        lines.push_back(fmt::format("{} 999999 {} 0", id(node), circuit.literal(node)));
      for (const auto part : circuit.parts(node)) lines.push_back(fmt::format("{} {} 0", id(node), id(part)));
    }
    std::ranges::shuffle(lines, random);
    std::ranges::stable_partition(lines, [](const std::string& line) { return line[0] >= 'a'; });
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    expected.expect_all(parse_nnf(text, "d4", variables), random, 1);
    if (HasFailure()) return;
  }
}

TEST(CircuitFiles, ReadsWhatOtherProgramsWrite) {
  // What D4 and c2d say of (1 or 2 or 3), and of all kinds of constants.
  const auto d4 = parse_nnf("o 1 0\no 2 0\no 3 0\nt 4 0\n3 4 -2 3 0\n3 4 2 0\n2 3 -1 0\n2 4 1 0\n1 2 0\n", "d4");
  EXPECT_EQ(d4.variables(), 3);
  EXPECT_EQ(d4.models(), 7);
  EXPECT_EQ(parse_nnf("t 1 0\n", "d4", 3).models(), 8);
  EXPECT_EQ(parse_nnf("f 1 0\n", "d4", 3).models(), 0);
  EXPECT_EQ(parse_nnf("o 1 0\nf 2 0\n1 2 4 0\n", "d4").models(), 0);
  EXPECT_EQ(parse_nnf("c d4\na 1 0\nt 2 0\n1 2 4 -2 0\n", "d4", 5).models(), 8);
  const auto c2d = parse_nnf("nnf 8 6 3\nL 1\nL -1\nL 2\nL -2\nL 3\nA 2 3 4\nO 2 2 2 5\nA 2 1 6\n", "c2d");
  EXPECT_EQ(c2d.models(), 3);
  EXPECT_EQ(parse_nnf("nnf 1 0 3\nA 0\n", "c2d").models(), 8);
  EXPECT_EQ(parse_nnf("nnf 1 0 3\nA 0\n", "c2d", 5).models(), 32);
  const auto never = parse_nnf("nnf 1 0 3\nO 0 0\n", "c2d");
  EXPECT_FALSE(never.satisfiable());
  EXPECT_EQ(never.variables(), 3);
  EXPECT_EQ(to_nnf(never), "nnf 1 0 3\nO 0 0\n");
  EXPECT_EQ(to_nnf(parse_nnf("nnf 1 0 1\nL -1\n", "c2d")), "nnf 1 0 1\nL -1\n");
  const std::string vtree = "vtree 3\nL 0 1\nL 2 2\nI 1 0 2\n";
  EXPECT_EQ(parse_sdd("sdd 1\nT 0\n", "sdd", vtree, "vtree").models(), 4);
  EXPECT_EQ(parse_sdd("sdd 1\nF 7\n", "sdd", vtree, "vtree").models(), 0);
  EXPECT_EQ(parse_sdd("sdd 1\nL 0 2 -2\n", "sdd", vtree, "vtree").models(), 2);
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "xor.sdd", "sdd 5\nL 1 0 1\nL 2 0 -1\nL 3 2 2\nL 4 2 -2\nD 0 1 2 1 4 2 3\n");
  write_file_atomically(directory.path() / "xor.vtree", vtree);
  EXPECT_EQ(read_sdd(directory.path() / "xor.sdd").models(), 2);
  write_file_atomically(directory.path() / "xor.nnf", to_nnf(read_sdd(directory.path() / "xor.sdd")));
  EXPECT_EQ(read_nnf(directory.path() / "xor.nnf").models(), 2);
}

TEST(CircuitFiles, RefuseLinesThatDeclareMoreThanIsSupported) {
  const std::string vtree = "vtree 3\nL 0 1\nL 2 2\nI 1 0 2\n";
  for (const std::string line : {"c ind 1 0", "c max 1 0", "c weights 1 1", "c t pmc", "c p show 1 0",
                                 "c p weight 1 0.5 0", "c p optshow 1 0"}) {
    const auto refused = [&](const auto& parse, const std::string& text) {
      const auto message = toys::message_of([&] { parse(text); });
      EXPECT_TRUE(message.starts_with("file:2: ")) << line << ": " << message;
      EXPECT_NE(message.find("not supported"), std::string::npos) << line << ": " << message;
    };
    refused([](const std::string& text) { parse_nnf(text, "file"); }, "nnf 1 0 2\n" + line + "\nL 1\n");
    refused([](const std::string& text) { parse_nnf(text, "file"); }, "t 1 0\n" + line + "\n");
    refused([&](const std::string& text) { parse_sdd(text, "file", vtree, "vtree"); }, "sdd 1\n" + line + "\nT 0\n");
  }
  EXPECT_EQ(parse_nnf("c t mc\nc max depth 3\nnnf 1 0 2\nc p is true\nA 0\n", "file").models(), 4);
}

TEST(CircuitFiles, SayWhatIsWrongAndWhere) {
  const std::pair<std::string, std::vector<std::string_view>> wrong[] = {
      {"", {"file:1"}},
      {"\nhello\n", {"file:2", "'nnf'", "(c2d)", "(D4)", "'hello'"}},
      {"nnf 1 0\nL 1\n", {"file:1"}},
      {"nnf 0 0 1\n", {"file:1", "1", "10000000", "'0'"}},
      {"nnf 99999999 0 1\n", {"file:1", "1", "10000000", "'99999999'"}},
      {"nnf 1 999999999 1\n", {"file:1", "0", "100000000", "'999999999'"}},
      {"nnf 1 0 0\nA 0\n", {"file:1", "1", "1000000", "'0'"}},
      {"nnf 1 0 1000001\nL 1\n", {"file:1", "1", "1000000", "'1000001'"}},
      {"nnf 2 0 1\nL 1\n", {"file:2", "2", "1"}},
      {"nnf 1 0 1\nL 1\nL 1\n", {"file:3", "1"}},
      {"nnf 2 2 1\nL 1\nA 1 0\n", {"file:3", "2", "1"}},
      {"nnf 1 0 1\nL 2\n", {"file:2", "-1", "1", "'2'"}},
      {"nnf 1 0 1\nL 0\n", {"file:2", "literal 0"}},
      {"nnf 1 0 1\nL 1 1\n", {"file:2", "'1'"}},
      {"nnf 1 0 1\nL\n", {"file:2"}},
      {"nnf 1 0 1\nB 1\n", {"file:2", "'B'"}},
      {"nnf 1 1 1\nA 1 0\n", {"file:2"}},
      {"nnf 2 1 1\nL 1\nA 1 1\n", {"file:3", "0", "'1'"}},
      {"nnf 2 1 1\nL 1\nA 1 -1\n", {"file:3", "0", "'-1'"}},
      {"nnf 2 2 1\nL 1\nA 2 0\n", {"file:3"}},
      {"nnf 2 1 1\nL 1\nO 2 1 0\n", {"file:3", "0", "1", "'2'"}},
      {"nnf 3 2 1\nL 1\nL -1\nA 2 0 1\n", {"file:4", "variable 1"}},
      {"nnf 3 2 1\nL 1\nA 0\nO 0 2 0 1\n", {"file:4"}},
      {"nnf 3 2 2\nL 1\nL 2\nO 0 2 0 1\n", {"file", "1", "2"}},
      {"nnf 2 2 2\nL 1\nO 0 2 0 0\n", {"file", "variable 1"}},
      {"o 2 0\nt 1 0 0\n", {"file:2", "'0'"}},
      {"o 1\n", {"file:1", "0"}},
      {"o 1 0\no 1 0\n", {"file:2", "node 1"}},
      {"o 0 0\n", {"file:1", "1", "2147483647", "'0'"}},
      {"o 1 0\n1 2 1 0\n", {"file:2", "node 2"}},
      {"t 1 0\n2 1 1 0\n", {"file:2", "node 2"}},
      {"o 2 0\nt 3 0\n2 3 1 0\n", {"file:3", "node 1"}},
      {"t 1 0\n", {"file:1"}},
      {"t 1 0\nt 2 0\n1 2 3 0\n", {"file:3", "node 1"}},
      {"o 1 0\nt 2 0\n1 2 3\n", {"file:3"}},
      {"o 1 0\nt 2 0\n1 2 1000001 0\n", {"file:3", "-1000000", "1000000", "'1000001'"}},
      {"o 1 0\nt 2 0\nx 2 0\n", {"file:3", "'x'"}},
      {"o 1 0\no 2 0\na 3 0\nt 4 0\n1 2 1 0\n2 3 0\n3 2 0\n3 4 0\n", {"file"}},  // at any node of the cycle
      {"o 1 0\nt 2 0\n1 1 1 0\n1 2 0\n", {"file:1"}},
      {"a 1 0\nt 2 0\n1 2 1 0\n1 2 -1 0\n", {"file:1", "variable 1"}},
      {"o 1 0\nt 2 0\n1 2 1 1 0\n", {"file:3", "variable 1"}},
      {"o 1 0\nt 2 0\n1 2 1 0\n1 2 2 0\n", {"file", "1", "2"}},
  };
  for (const auto& [text, things] : wrong) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_nnf(text, "file"); }), things)) << text;
  }
  EXPECT_TRUE(toys::names(toys::message_of([] { parse_nnf("nnf 1 0 3\nA 0\n", "file", 2); }), {"file:1", "3", "2"}));
  EXPECT_TRUE(toys::names(toys::message_of([] { parse_nnf("o 1 0\nt 2 0\n1 2 3 0\n", "file", 2); }),
                          {"file:3", "-2", "2", "'3'"}));
  EXPECT_TRUE(toys::names(toys::message_of([] { parse_nnf("t 1 0\n", "file", -1); }), {"file", "1000000", "-1"}));
}

TEST(CircuitFiles, SayWhatIsWrongWithAnSdd) {
  const std::pair<std::string, std::vector<std::string_view>> wrong_trees[] = {
      {"", {"vtree:1", "'vtree NODES'"}},
      {"sdd 3\n", {"vtree:1", "'vtree NODES'"}},
      {"vtree 0\n", {"vtree:1", "1", "1999999", "'0'"}},
      {"vtree 3\nL 0 1\nL 2 2\n", {"vtree:3", "3", "2"}},
      {"vtree 1\nL 0 1\nL 2 2\n", {"vtree:3", "1"}},
      {"vtree 1\nX 0 1\n", {"vtree:2", "'X'"}},
      {"vtree 2\nL 0 1\nL 0 2\n", {"vtree:3", "node 0"}},
      {"vtree 2\nL 0 1\nL 2 1\n", {"vtree:3", "variable 1"}},
      {"vtree 1\nL 0 0\n", {"vtree:2", "1", "1000000", "'0'"}},
      {"vtree 1\nL 0 2\n", {"vtree:2", "variable 2", "1"}},
      {"vtree 2\nL 0 1\nI 1 0 2\n", {"vtree:3", "node 2"}},
      {"vtree 2\nL 0 1\nI 1 0 0\n", {"vtree:3", "node 0"}},
      {"vtree 1\nI 1 1 1\n", {"vtree:2", "node 1"}},
      {"vtree 2\nL 0 1\nL 2 2\n", {"vtree:3", "2"}},
  };
  for (const auto& [text, things] : wrong_trees) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_sdd("sdd 1\nT 0\n", "sdd", text, "vtree"); }), things))
        << text;
  }
  const std::string vtree = "vtree 5\nL 0 1\nL 2 2\nI 1 0 2\nL 4 3\nI 3 1 4\n";  // ((1 2) 3)
  const std::string literals = "L 1 0 1\nL 2 0 -1\nL 3 2 2\nL 4 2 -2\nL 5 4 3\nT 6\n";
  const std::pair<std::string, std::vector<std::string_view>> wrong[] = {
      {"", {"sdd:1", "'sdd NODES'"}},
      {"vtree 1\n", {"sdd:1", "'sdd NODES'"}},
      {"sdd 10000001\n", {"sdd:1", "1", "10000000", "'10000001'"}},
      {"sdd 2\nT 0\n", {"sdd:2", "2", "1"}},
      {"sdd 1\nT 0\nF 1\n", {"sdd:3", "1"}},
      {"sdd 1\nX 0\n", {"sdd:2", "'X'"}},
      {"sdd 2\nT 0\nF 0\n", {"sdd:3", "node 0"}},
      {"sdd 1\nT 0 1\n", {"sdd:2", "'1'"}},
      {"sdd 1\nT -1\n", {"sdd:2", "0", "2147483647", "'-1'"}},
      {"sdd 1\nL 0 9 1\n", {"sdd:2", "node 9"}},
      {"sdd 1\nL 0 0 2\n", {"sdd:2", "literal 2", "node 0"}},
      {"sdd 1\nL 0 1 1\n", {"sdd:2", "literal 1", "node 1"}},
      {"sdd 1\nL 0 1 0\n", {"sdd:2", "literal 0", "node 1"}},
      {"sdd 1\nL 0 0 4\n", {"sdd:2", "-3", "3", "'4'"}},
      {"sdd 7\n" + literals + "D 7 0 1 1 3\n", {"sdd:8", "node 0"}},
      {"sdd 7\n" + literals + "D 7 1 0\n", {"sdd:8", "1", "100000000", "'0'"}},
      {"sdd 7\n" + literals + "D 7 1 2 1 3\n", {"sdd:8"}},
      {"sdd 7\n" + literals + "D 7 1 1 1\n", {"sdd:8"}},
      {"sdd 7\n" + literals + "D 7 1 1 1 3 2\n", {"sdd:8", "'2'"}},
      {"sdd 7\n" + literals + "D 7 1 1 1 8\n", {"sdd:8", "node 8"}},
      {"sdd 7\n" + literals + "D 7 1 1 1 7\n", {"sdd:8", "node 7"}},
      {"sdd 7\n" + literals + "D 7 1 1 3 1\n", {"sdd:8", "3"}},
      {"sdd 7\n" + literals + "D 7 1 1 1 5\n", {"sdd:8", "5"}},
      {"sdd 8\n" + literals + "D 7 1 1 1 3\nD 8 1 1 7 3\n", {"sdd:9", "7"}},
      {"sdd 7\n" + literals + "D 7 3 2 1 5 3 5\n", {"sdd", "1", "2", "3"}},
  };
  for (const auto& [text, things] : wrong) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_sdd(text, "sdd", vtree, "vtree"); }), things)) << text;
  }
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "a.sdd", "sdd 1\nT 0\n");
  const auto message = toys::message_of([&] { read_sdd(directory.path() / "a.sdd"); });
  EXPECT_TRUE(toys::names(message, {"a.vtree"}));
}

TEST(CircuitFiles, SurviveDamage) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto sdd = sdd_of(permutations_of_four().models(), in_order(16));
  const auto nnf = to_nnf(parse_sdd(sdd.sdd, "sdd", sdd.vtree, "vtree"));
  const std::string d4 = "o 1 0\no 2 0\no 3 0\nt 4 0\n3 4 -2 3 0\n3 4 2 0\n2 3 -1 0\n2 4 1 0\n1 2 0\n";
  const std::string vtree = "vtree 5\nL 0 1\nL 2 2\nI 1 0 2\nL 4 3\nI 3 1 4\n";
  const std::string small = "sdd 6\nL 1 0 1\nL 2 0 -1\nL 3 2 2\nL 4 2 -2\nL 5 4 3\nD 0 1 2 1 4 2 3\n";
  const std::function<void(bool)> read[] = {
      [&](bool) { parse_nnf(toys::damaged(nnf, random), "nnf"); },
      [&](bool) { parse_nnf(toys::damaged(d4, random), "d4"); },
      [&](bool) { parse_sdd(toys::damaged(sdd.sdd, random), "sdd", sdd.vtree, "vtree"); },
      [&](bool tree) {
        parse_sdd(tree ? small : toys::damaged(small, random), "sdd", tree ? toys::damaged(vtree, random) : vtree,
                  "vtree");
      },
  };
  for (int trial = 0; trial < 8000; ++trial) {
    EXPECT_TRUE(toys::reads_or_says_why([&] { read[trial % 4](trial % 8 < 4); })) << "trial " << trial;
  }
  for (std::size_t length = 0; length < d4.size(); ++length) {
    EXPECT_TRUE(toys::reads_or_says_why([&] { parse_nnf(d4.substr(0, length), "d4"); })) << length;
  }
}

TEST(CircuitFiles, DepthCostsNoStackAndSmallFilesLittle) {
  const auto start = std::clock();
  // A million nodes, each of which has the one before as its only part.
  std::string deep = "nnf 1000001 1000000 2\nL -2\n";
  for (int node = 0; node < 1'000'000; ++node) deep += fmt::format("A 1 {}\n", node);
  EXPECT_EQ(parse_nnf(deep, "deep").models(), 2);
  std::string deep_d4;
  for (int node = 1; node <= 200'000; ++node) deep_d4 += fmt::format("o {} 0\n{} {} 0\n", node, node, node + 1);
  EXPECT_EQ(parse_nnf(deep_d4 + "t 200001 0\n", "deep", 1).models(), 2);
  EXPECT_EQ(toys::message_of([&] { parse_nnf(deep_d4 + "o 200001 0\n200001 1 0\n", "cycle", 1); }).substr(0, 6),
            "cycle:");
  // Whether an odd number of 20,000 variables is true: a decision on each.
  std::string odd = "nnf 160000 240000 20000\nL 1\nL -1\n";
  std::size_t nodes = 2, edges = 0;
  std::array<std::size_t, 2> by_parity{1, 0};  // the node that says the number so far is even, odd
  for (int variable = 2; variable <= 20'000; ++variable) {
    const auto [even_before, odd_before] = by_parity;
    odd += fmt::format("L {}\nL {}\n", variable, -variable);
    const auto is = nodes, is_not = nodes + 1;
    for (const auto parity : {0U, 1U}) {
      odd +=
          fmt::format("A 2 {} {}\nA 2 {} {}\nO {} 2 {} {}\n", is, parity == 0 ? odd_before : even_before, is_not,
                      parity == 0 ? even_before : odd_before, variable, nodes + 2 + 3 * parity, nodes + 3 + 3 * parity);
      by_parity[parity] = nodes + 4 + 3 * parity;
    }
    nodes += 8;
    edges += 12;
  }
  odd.replace(0, odd.find('\n'), fmt::format("nnf {} {} 20000", nodes, edges));
  const auto circuit = parse_nnf(odd, "odd");
  EXPECT_NEAR(circuit.log_count(Circuit::Weights(circuit.places(), 0)), 19'999 * std::log(2.0), 1e-6);
  EXPECT_EQ(circuit.models(), INFINITY);
  // A chain of decisions whose parts are over fewer and fewer of 20,000 variables.
  std::string chain;
  for (int node = 1; node <= 20'000; ++node) {
    chain += fmt::format("o {0} 0\n{0} {1} {0} 0\n{0} 20001 -{0} 0\n", node, node + 1);
  }
  EXPECT_LT(parse_nnf(chain + "t 20001 0\n", "chain").nodes(), 400'000);
  // What a product shares with another is found without comparing all of them.
  std::string wide = "nnf 30002 30000 1000000\n";
  for (int literal = 1; literal <= 30'000; ++literal) wide += fmt::format("L {}\n", literal * 33);
  wide += "A 30000";
  for (int node = 0; node < 30'000; ++node) wide += fmt::format(" {}", node);
  EXPECT_TRUE(toys::names(toys::message_of([&] { parse_nnf(wide + "\nA 2 30000 29999\n", "wide"); }),
                          {"wide:30003", "variable 990000"}));
  EXPECT_LT(std::clock() - start, 60 * CLOCKS_PER_SEC);  // sanitizers are slow
}

// Many wide sums over many variables are refused before they take much memory.
TEST(CircuitFiles, TooLargeCircuitsAreRefused) {
  std::string text;
  constexpr int kVariables = 100'000, kNodes = 100'000;
  for (int variable = 1; variable <= kVariables; ++variable) text += fmt::format("L {}\n", variable);
  text += fmt::format("A {}", kVariables / 2);
  for (int node = 0; node < kVariables / 2; ++node) text += fmt::format(" {}", 2 * node);
  text += "\n";
  for (int node = 0; node < kNodes; ++node) text += fmt::format("A 2 {} {}\n", kVariables, 2 * (node % 50'000) + 1);
  const auto header = fmt::format("nnf {} {} {}\n", kVariables + 1 + kNodes, kVariables / 2 + 2 * kNodes, kVariables);
  const auto message = toys::message_of([&] { parse_nnf(header + text, "large"); });
  EXPECT_TRUE(toys::names(message, {"circuit"}));
}

}  // namespace
}  // namespace anesi

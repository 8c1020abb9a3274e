#include "anesi/logic/dimacs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <string_view>
#include <vector>

#include "anesi/io/files.h"
#include "anesi/testing/damage.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

std::string dimacs_error(const std::string& text) {
  return toys::message_of([&] { parse_dimacs(text, "file"); });
}

void expect_same(const Dimacs& one, const Dimacs& other) {
  EXPECT_EQ(one.variables, other.variables);
  EXPECT_EQ(one.clauses, other.clauses);
  EXPECT_EQ(one.shown, other.shown);
  EXPECT_EQ(one.has_show, other.has_show);
  EXPECT_EQ(one.weights, other.weights);
}

TEST(Dimacs, ReadsTheFormatOfTheCompetition) {
  const auto formula = parse_dimacs(
      "c t wmc\n"
      "c p weight -2 0.25 0\n"
      "p cnf 5 3\n"
      "c p show 1 2 0\n"
      "c p show 2 5 0\n"
      "c p weight 1 0.7 0\r\n"
      "c p weight 4 3e0 0\n"
      "c p weight 5 2 0\n"
      "c p weight -5 0 0\n"
      "c p unknown to us\n"
      "\n"
      "1 -2\n"
      "c between\n"
      "  3 0 -1 0\n"
      "0\n",
      "file");
  EXPECT_EQ(formula.variables, 5);
  EXPECT_EQ(formula.clauses, (std::vector<std::vector<int>>{{1, -2, 3}, {-1}, {}}));
  EXPECT_TRUE(formula.has_show);
  EXPECT_EQ(formula.shown, (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(formula.weights,
            (std::map<int, double>{{-5, 0}, {5, 2}, {4, 3}, {-2, 0.25}, {2, 0.75}, {1, 0.7}, {-1, 1 - 0.7}}));
}

TEST(Dimacs, ReadsWhatSatlibHas) {
  const auto formula = parse_dimacs("c uf20\np  cnf 3  2 \n 1 -3 0\n2 3 -1 0\n%\n0\n\n", "file");
  EXPECT_EQ(formula.clauses, (std::vector<std::vector<int>>{{1, -3}, {2, 3, -1}}));
  EXPECT_FALSE(formula.has_show);
  EXPECT_TRUE(formula.weights.empty());
  EXPECT_TRUE(parse_dimacs("p cnf 0 0", "file").clauses.empty());
}

TEST(Dimacs, ReadsBackWhatItWrote) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const TemporaryDirectory directory;
  for (int trial = 0; trial < 200; ++trial) {
    Dimacs formula;
    formula.variables = 1 + static_cast<int>(random() % 30);
    const auto literal = [&] {
      const auto variable = 1 + static_cast<int>(random() % static_cast<unsigned>(formula.variables));
      return random() % 2 == 0 ? variable : -variable;
    };
    formula.clauses.resize(random() % 20);
    for (auto& clause : formula.clauses) {
      for (auto length = random() % 5; length > 0; --length) clause.push_back(literal());
    }
    formula.has_show = random() % 2 == 0;
    for (int variable = 1; variable <= formula.variables; ++variable) {
      if (formula.has_show && random() % 3 == 0) formula.shown.push_back(variable);
    }
    for (auto count = random() % 6; count > 0; --count) {
      formula.weights[literal()] = std::uniform_real_distribution<double>(0, 2)(random);
    }
    auto found = parse_dimacs(to_dimacs(formula), "text");
    if (trial == 0) {
      write_file_atomically(directory.path() / "formula.cnf", to_dimacs(formula));
      found = read_dimacs(directory.path() / "formula.cnf");
    }
    for (const auto& [of, weight] : found.weights) {  // told or not, a weight of 1 is one
      if (weight == 1) formula.weights.try_emplace(of, 1);
    }
    expect_same(found, formula);
    expect_same(parse_dimacs(to_dimacs(found), "again"), found);
  }
}

TEST(Dimacs, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, std::vector<std::string_view>> wrong[] = {
      {"", {"file:1", "'p cnf VARIABLES CLAUSES'"}},
      {"c nothing\n\n", {"file:2", "'p cnf VARIABLES CLAUSES'"}},
      {"c\n1 2 0\n", {"file:2", "'p cnf VARIABLES CLAUSES'", "'1'"}},
      {"<html>\n", {"file:1", "'p cnf VARIABLES CLAUSES'", "'<html>'"}},
      {"p cnf 2 1\n1 0\np cnf 2 1\n", {"file:3"}},
      {"p wcnf 2 1 10\n", {"file:1", "'p cnf VARIABLES CLAUSES'", "'wcnf'"}},
      {"p wcnf 2 1\n1 2 0\n", {"file:2", ".wcnf"}},
      {"p pcnf 2 1 x\n", {"file:1", "'x'"}},
      {"p cnf 2\n", {"file:1"}},
      {"p cnf 2 1 3\n", {"file:1", "'3'"}},
      {"p cnf two 1\n", {"file:1", "'two'"}},
      {"p cnf -2 1\n", {"file:1", "0", "10000000", "'-2'"}},
      {"p cnf 10000001 1\n", {"file:1", "0", "10000000", "'10000001'"}},
      {"p cnf 2 99999999999999999999\n", {"file:1", "0", "10000000", "'99999999999999999999'"}},
      {"p cnf 2 1\n1 3 0\n", {"file:2", "'3'", "2"}},
      {"p cnf 2 1\n1 -3 0\n", {"file:2", "'-3'", "2"}},
      {"p cnf 2 1\n-2147483648 0\n", {"file:2", "'-2147483648'", "2"}},
      {"p cnf 2 1\n99999999999 0\n", {"file:2", "'99999999999'", "2"}},
      {"p cnf 2 2\n1 0\n1\n2\n", {"file:3", "0"}},
      {"p cnf 2 1\n1\n%\n0\n", {"file:2", "0"}},
      {"p cnf 2 1\n1 x 0\n", {"file:2", "'x'"}},
      {"p cnf 2 1\n1 2.5 0\n", {"file:2", "'2.5'"}},
      {"p cnf 2 1\n1 \x01\x9b[2J 0\n", {"file:2", "'\\x01\\x9b[2J'"}},
      {"p cnf 2 0\nc p show 1 3 0\n", {"file:2", "variable 3", "2"}},
      {"c p show -1 0\np cnf 2 0\n", {"file:1", "variable -1", "2"}},
      {"p cnf 2 0\nc p show 1 2\n", {"file:2"}},
      {"p cnf 2 0\nc p show 1 0 2\n", {"file:2", "'2'"}},
      {"p cnf 2 0\nc p weight 1 0.5\n", {"file:2", "0"}},
      {"p cnf 2 0\nc p weight 1 0.5 1\n", {"file:2", "0", "'1'"}},
      {"p cnf 2 0\nc p weight 1 -0.5 0\n", {"file:2", "'-0.5'"}},
      {"p cnf 2 0\nc p weight 1 inf 0\n", {"file:2", "'inf'"}},
      {"p cnf 2 0\nc p weight 1 nan 0\n", {"file:2", "'nan'"}},
      {"p cnf 2 0\nc p weight 1 1e999 0\n", {"file:2", "'1e999'"}},
      {"p cnf 2 0\nc p weight 1 1/0 0\n", {"file:2", "above 0", "'1/0'"}},
      {"p cnf 2 0\nc p weight 1 1/-3 0\n", {"file:2", "above 0", "'1/-3'"}},
      {"p cnf 2 0\nc p weight 1 -1/3 0\n", {"file:2", "negative", "'-1/3'"}},
      {"p cnf 2 0\nc p weight 1 1/3/4 0\n", {"file:2", "'3/4'"}},
      {"p cnf 2 0\nc p weight 1 / 0\n", {"file:2", "''"}},
      {"p cnf 2 0\nc p weight 1 1e300/1e-300 0\n", {"file:2", "finite"}},
      {"p cnf 2 0\nw 1 -0.5\n", {"file:2", "negative", "'-0.5'"}},
      {"p cnf 2 0\nw -1 -1\n", {"file:2", "negative", "'-1'"}},
      {"p cnf 2 0\nw 1\n", {"file:2", "a weight"}},
      {"p cnf 2 0\nw 1 0.5 0 0\n", {"file:2", "'0'"}},
      {"p cnf 2 0\nw 3 0.5\n", {"file:2", "'3'", "2"}},
      {"p cnf 2 0\nw 1 -1\nw 1 0.5\n", {"file:3", "literal 1"}},
      {"p cnf 2 0\nc weights 0.5 0.5 1\n", {"file:2", "3 weights", "2 variables"}},
      {"p cnf 2 0\nc weights 0.5 0.5 1 -1\n", {"file:2", "negative", "'-1'"}},
      {"c weights 1 1 1 1\np cnf 2 0\nc weights 1 1 1 1\n", {"file:3", "second"}},
      {"p pcnf 2 0 1\nvp 3 0\n", {"file:2", "variable 3", "2"}},
      {"p cnf 2 0\nc ind 1 0 2\n", {"file:2", "'2'"}},
      {"p cnf 2 0\nc ind 1 x\n", {"file:2", "'x'"}},
      {"p cnf 2 0\nc p weight 0 0.5 0\n", {"file:2", "'0'", "2"}},
      {"p cnf 2 0\nc p weight 3 0.5 0\n", {"file:2", "'3'", "2"}},
      {"p cnf 2 0\nc p weight 1 0.5 0\nc p weight 1 0.6 0\n", {"file:3", "literal 1"}},
  };
  for (const auto& [text, things] : wrong) EXPECT_TRUE(toys::names(dimacs_error(text), things)) << text;
  EXPECT_TRUE(
      toys::names(dimacs_error("p cnf 2 1\n" + std::string(1000, 'x')), {"file:2", "'xxxxxxxxxxxxxxxxxxxxxxxx…'"}));
}

TEST(Dimacs, RefusesLinesThatDeclareMoreThanIsSupported) {
  const std::string formula = "p cnf 2 1\n1 2 0\n";
  for (const std::string line : {"c max 1 0", "c t amc-complex", "c t unknown", "c p optshow 1 0", "c p unknown 99",
                                 "v 1 0", "x 1 2 0", "e 1 0", "a 1 0", "r 0.5 1 0"}) {
    const auto error = dimacs_error(formula + line + "\n");
    EXPECT_TRUE(error.starts_with("file:3: ")) << line << ": " << error;
    EXPECT_TRUE(error.find("not supported") != std::string::npos || line == "v 1 0") << line << ": " << error;
    EXPECT_EQ(dimacs_error(line + "\n" + formula).substr(0, 8), "file:1: ") << line;
  }
}

TEST(Dimacs, ReadsWhatToCountHoweverItIsSaid) {
  for (const std::string text :
       {"c t pmc\np cnf 4 1\nc p show 3 1 0\n1 2 0\n", "p cnf 4 1\nc ind 3 0\nc ind 1 0\n1 2 0\n",
        "cr 3 1\np cnf 4 1\n1 2 0\n", "p cnf 4 1\nc ind 3 1\n1 2 0\n", "p pcnf 4 1 2\nvp 3 1 0\n1 2 0\n",
        "p pcnf 4 1\nvp 3 1\n1 2 0\n", "p wpcnf 4 1 2\nvp 3 1 0\n1 2 0\n"}) {
    const auto formula = parse_dimacs(text, "file", [&](const std::string& line) { ADD_FAILURE() << line; });
    EXPECT_TRUE(formula.has_show) << text;
    EXPECT_EQ(formula.shown, (std::vector<int>{3, 1})) << text;
    EXPECT_EQ(formula.clauses, (std::vector<std::vector<int>>{{1, 2}})) << text;
  }
  EXPECT_TRUE(parse_dimacs("p cnf 2 1\nc ind 0\n1 2 0\n", "file").has_show);
  EXPECT_TRUE(parse_dimacs("p cnf 2 1\nvp 0\n1 2 0\n", "file").shown.empty());
}

TEST(Dimacs, ReadsWeightsHoweverTheyAreSaid) {
  const std::map<int, double> weights{{1, 0.25}, {-1, 0.75}, {2, 2}, {-2, 1}, {3, 1}, {-3, 1}};
  for (const std::string text :
       {"c p weight 1 1/4 0\nc p weight 2 2 0\nc p weight -2 1 0\nc p weight 3 1.0 0\nc p weight -3 4/4 0\n",
        "w 1 0.25 0\nw -1 0.75 0\nw 2 2 0\nw -2 1 0\nw 3 -1 0\n", "w 1 2.5e-1\nw 2 4/2\nw -2 1\nw 3 -1\n",
        "c weights 0.25 0.75 2 1 1 1\n"}) {
    for (const std::string header : {"p cnf 3 1\n", "p wcnf 3 1\n", "p wpcnf 3 1\n"}) {
      const auto formula = parse_dimacs(header + text + "1 2 0\n", "file");
      EXPECT_EQ(formula.weights, weights) << text;
      EXPECT_EQ(parse_dimacs(text + header + "1 2 0\n", "file").weights, weights) << text;
      EXPECT_EQ(formula.clauses.size(), 1U);
    }
  }
}

TEST(Dimacs, WarnsOfAHeaderThatSaysAnotherNumberOfClauses) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_EQ(parse_dimacs("p cnf 2 2\n1 0\n\n", "file", warn).clauses.size(), 1U);
  EXPECT_EQ(parse_dimacs("p cnf 2 1\n1 0\n2 0\n", "file", warn).clauses.size(), 2U);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_TRUE(toys::names(warnings[0], {"file:3", "says 2 clauses, there are 1", "cut short"}));
  EXPECT_TRUE(toys::names(warnings[1], {"file:3", "says 1 clauses, there are 2"}));
}

TEST(Dimacs, CommentsAreStillComments) {
  const std::string formula = "p cnf 2 1\n1 2 0\n";
  for (const std::string line : {"c",
                                 "c ind",
                                 "c independent 1 2 0",
                                 "c ind of the variables",
                                 "c max clique of 9 nodes",
                                 "c max",
                                 "c weights",
                                 "c weights are below",
                                 "c t",
                                 "c t mc",
                                 "c t wmc",
                                 "c t pwmc",
                                 "c t is the time",
                                 "c p",
                                 "c p is a prime",
                                 "c 1 2 0",
                                 "created by 3 people",
                                 "cr",
                                 "cr lf",
                                 "c w 1 0.5 0",
                                 "c c ind 1 0",
                                 "c\tt\tmc"}) {
    EXPECT_EQ(dimacs_error(line + "\n" + formula + line + "\n"), "no error") << line;
  }
}

TEST(Dimacs, WaitsForNothingAndReadsNothingTooLarge) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "formula.cnf";
  const auto message = [&] { return toys::message_of([&] { read_dimacs(path); }); };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(toys::names(message(), {"formula.cnf"}));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(toys::names(message(), {path.string()}));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_TRUE(toys::names(message(), {path.string()}));
  std::filesystem::remove(path);
  std::ofstream(path).close();
  std::filesystem::resize_file(path, 100'000'000);
  EXPECT_TRUE(toys::names(message(), {path.string(), "100,000,000", "67,108,864"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Dimacs, RefusesRubbishAtOnce) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::string rubbish(60'000'000, '\0');
  for (std::size_t place = 0; place + 8 <= rubbish.size(); place += 8) {
    const auto bytes = random();
    rubbish.replace(place, 8, reinterpret_cast<const char*>(&bytes), 8);
  }
  for (const auto& text : {"p" + rubbish, "p cnf 10000000 10000000\n" + rubbish, "p cnf 9 9\n1 " + rubbish}) {
    const auto start = std::clock();
    EXPECT_NE(dimacs_error(text), "no error");
    EXPECT_LT(dimacs_error(text).size(), 200U);
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 2);
  }
}

TEST(Dimacs, SurvivesDamage) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const std::string good =
      "c t wmc\np cnf 12 4\nw 2 1/3\nw 4 -1\nvp 4 0\nc p show 1 2 3 0\nc p weight 1 0.7 0\nc p weight -10 1e-3 0\n1 -2 "
      "12 0\n3 4\n-5 0\n11 0\n"
      "-7 -8 -9 0\n%\n0\n";
  ASSERT_EQ(dimacs_error(good), "no error");
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_TRUE(toys::reads_or_says_why([&] { parse_dimacs(good.substr(0, length), "file"); })) << length;
  }
  int read = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const auto text = toys::damaged(good, random);
    EXPECT_TRUE(toys::reads_or_says_why([&] {
      const auto formula = parse_dimacs(text, "file");
      expect_same(parse_dimacs(to_dimacs(formula), "again"), formula);
      ++read;
    })) << text;
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 5000);
}

}  // namespace
}  // namespace anesi

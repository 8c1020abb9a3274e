#include "anesi/logic/wcnf.h"

#include <gtest/gtest.h>

#include <random>

#include "anesi/logic/random_formula.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

std::string complaint_about_wcnf(std::string_view text) {
  return toys::message_of([&] { parse_wcnf(text, "file"); });
}

TEST(Wcnf, ReadsBothFormats) {
  for (const auto* const text :
       {"c one\nh 1 -2 0\n0.7 2 3 0\n-1.5 -1\n 0\n", "c one\np wcnf 3 3 100\n100 1 -2 0\n0.7 2 3 0 -1.5\n-1 0\n"}) {
    const auto formula = parse_wcnf(text, "file");
    EXPECT_EQ(formula.hard.variables, 3);
    EXPECT_EQ(formula.hard.clauses, (std::vector<std::vector<int>>{{1, -2}}));
    ASSERT_EQ(formula.soft.size(), 2U);
    EXPECT_EQ(formula.soft[0].literals, (std::vector<int>{2, 3}));
    EXPECT_EQ(formula.soft[0].weight, 0.7);
    EXPECT_EQ(formula.soft[1].literals, (std::vector<int>{-1}));
    EXPECT_EQ(formula.soft[1].weight, -1.5);
  }
}

TEST(Wcnf, WithoutTheWeightOfHardClausesAllAreSoft) {
  const auto formula = parse_wcnf("p wcnf 2 2\n1e6 1 0\n3 -2 0\n", "file");
  EXPECT_TRUE(formula.hard.clauses.empty());
  EXPECT_EQ(formula.soft.size(), 2U);
}

TEST(Wcnf, HeavierThanTopIsHardToo) {
  EXPECT_EQ(parse_wcnf("p wcnf 2 2 10\n11 1 0\n9.5 -2 0\n", "file").hard.clauses.size(), 1U);
}

TEST(Wcnf, CommentsAreThoseOfDimacs) {
  const auto formula = parse_wcnf("c p show 1 0\nc p weight 1 0.3 0\nh 1 -2 0\n1 2 0\n", "file");
  EXPECT_EQ(formula.hard.shown, (std::vector<int>{1}));
  EXPECT_EQ(formula.hard.weights.at(1), 0.3);
  EXPECT_EQ(formula.hard.weights.at(-1), 0.7);
  const auto other = parse_wcnf("c ind 1 0\nw 2 1/4\nh 1 -2 0\n1 2 0\n", "file");
  EXPECT_EQ(other.hard.shown, (std::vector<int>{1}));
  EXPECT_EQ(other.hard.weights.at(2), 0.25);
}

TEST(Wcnf, WarnsOfAHeaderThatSaysAnotherNumberOfClauses) {
  for (const auto* const text : {"p wcnf 2 1 9\n9 1 0\n1 2 0\n", "p wcnf 2 3 9\n9 1 0\n1 2 0\n"}) {
    std::vector<std::string> warnings;
    const auto formula = parse_wcnf(text, "file", [&](const std::string& line) { warnings.push_back(line); });
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(toys::names(warnings[0], {"file:3", "there are 2"}));
    EXPECT_EQ(formula.soft.size(), 1U);
  }
}

TEST(Wcnf, RefusesLinesThatDeclareMoreThanIsSupported) {
  for (const std::string line : {"c max 1 0", "c t amc-complex", "x 1 2 0"}) {
    const auto complaint = complaint_about_wcnf("h 1 2 0\n" + line + "\n");
    EXPECT_TRUE(complaint.starts_with("file:2: ")) << line << ": " << complaint;
    EXPECT_NE(complaint.find("not supported"), std::string::npos) << line << ": " << complaint;
  }
  EXPECT_EQ(complaint_about_wcnf("c max weight 3\nc t wmc\nh 1 2 0\n"), "no error");
}

TEST(Wcnf, ComplaintsNameTheLine) {
  EXPECT_TRUE(toys::names(complaint_about_wcnf(""), {"file:1"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("h 1 0\nheavy 2 0\n"), {"file:2", "'heavy'"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("h 1 0\ninf 2 0\n"), {"file:2", "'inf'"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("1 2 x 0\n"), {"file:1", "'x'"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("h 1 0\n2 3\n\n"), {"file:2", "0"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("h 1 0\n2 0\n"), {"file:2"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("p wcnf 2 1 9\n9 3 0\n"), {"file:2", "'3'", "2"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("p wcnf 2 1 0\n"), {"file:1", "0", "'0'"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("p wcnf 2 1 9\np wcnf 2 1 9\n"), {"file:2"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("h 1 0\np wcnf 2 1 9\n"), {"file:2"}));
  EXPECT_TRUE(toys::names(complaint_about_wcnf("p wcnf 2 1 9\nh 1 0\n"), {"file:2", "'h'"}));
  EXPECT_TRUE(
      toys::names(complaint_about_wcnf("p cnf 2 1\n1 0\n"), {"file:1", "'p wcnf VARIABLES CLAUSES TOP'", "'cnf'"}));
}

TEST(Wcnf, WhatIsWrittenIsReadAgain) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  Wcnf formula;
  formula.hard.variables = 9;
  formula.hard.clauses = random_formula(8, 5, 3, random).clauses();
  formula.hard.shown = {2, 1};
  formula.hard.has_show = true;
  const auto soft = random_formula(8, 6, 2, random);
  for (const auto& clause : soft.clauses()) {
    formula.soft.push_back({clause, static_cast<double>(random() % 1000) / 300 - 1.5});
  }
  const auto again = parse_wcnf(to_wcnf(formula), "file");
  EXPECT_EQ(again.hard.variables, 9);
  EXPECT_EQ(again.hard.shown, formula.hard.shown);
  formula.hard.clauses.push_back({9, -9});
  EXPECT_EQ(again.hard.clauses, formula.hard.clauses);
  ASSERT_EQ(again.soft.size(), formula.soft.size());
  for (std::size_t clause = 0; clause < formula.soft.size(); ++clause) {
    EXPECT_EQ(again.soft[clause].literals, formula.soft[clause].literals);
    EXPECT_EQ(again.soft[clause].weight, formula.soft[clause].weight);
  }
}

}  // namespace
}  // namespace anesi

#include "anesi/formula/markov_logic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/build.h"
#include "anesi/exact/belief_propagation.h"
#include "anesi/formula/markov_data.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

// 3 is defined as 1 <-> 2 and not shown; it alone has a weight.
TEST(MarkovLogic, TellsWhichClausesHold) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  const MarkovLogic logic(
      parse_wcnf("c p show 1 2 0\nh -3 -1 2 0\nh -3 1 -2 0\nh 3 1 2 0\nh 3 -1 -2 0\n1.2 3 0\n", "f"));
  EXPECT_EQ(logic.worlds().domains(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(logic.holds(all_points(logic.worlds())), (Matrix<double>{{1}, {0}, {0}, {1}}));
}

// By its graph, with enough cases for every loop, as by going through all worlds.
TEST(MarkovLogic, IsCountedByMessages) {
  const MarkovLogic logic(
      parse_wcnf("h 1 2 3 0\nh -1 -2 0\nh -1 -3 0\nh -2 -3 0\n1.5 4 -1 0\n-0.7 4 2 0\n0.3 -4 0\n", "f"));
  ASSERT_EQ(logic.worlds().domains(), (std::vector<std::int64_t>{3, 2}));
  const std::vector<double> logs{std::log(0.2), std::log(0.3), std::log(0.5), std::log(0.4), std::log(0.6), kLogOfZero};
  const std::vector<double> weights{1.5, -0.7, 0.3};
  double truth = 0;
  const auto worlds = all_points(logic.worlds());
  const auto holds = logic.holds(worlds);
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    double log = logs[static_cast<std::size_t>(worlds[row][0])] + logs[3 + static_cast<std::size_t>(worlds[row][1])];
    for (std::size_t clause = 0; clause < weights.size(); ++clause) log += weights[clause] * holds[row][clause];
    truth += std::exp(log);
  }
  std::vector<double> counted(1);
  BeliefPropagation(logic.graph(), {.cases = 64}).log_count({logs.data(), 1, 2, 3}, weights, counted);
  EXPECT_NEAR(counted[0], std::log(truth), 1e-9);
}

TEST(MarkovLogic, WhatCannotBe) {
  const auto complaint = [](const char* text) { return toys::message_of([&] { MarkovLogic(parse_wcnf(text, "f")); }); };
  EXPECT_TRUE(toys::names(complaint("h 1 0\n"), {"soft"}));
  EXPECT_TRUE(toys::names(complaint("h 1 0\nh -1 0\n1 2 0\n"), {"formula"}));
  EXPECT_TRUE(toys::names(complaint("c p show 1 0\nh 1 2 0\n1 2 0\n"), {"variable 2"}));
}

TEST(MarkovData, TablesBecomeWorldsAndBeliefs) {
  const MarkovLogic logic(parse_wcnf("h 2 3 4 0\nh -2 -3 0\nh -2 -4 0\nh -3 -4 0\n1 1 2 0\n", "f"));
  ASSERT_EQ(logic.worlds().domains(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(columns_of(logic), (std::vector<int>{1, 2, 3, 4}));
  using Table = Matrix<double>;
  const auto worlds = worlds_of(logic, Table{{1, 0, 0, 1}, {0, 1, 0, 0}});
  EXPECT_EQ(worlds, (Points{{1, 2}, {0, 0}}));
  EXPECT_EQ(literals_of_world(logic, worlds[0]), "1 -2 -3 4");
  const auto beliefs = beliefs_of(logic, Table{{0.25, 0.1, 0.2, 0.1}});
  EXPECT_EQ(beliefs.shape(), (std::vector<std::int64_t>{1, 2, 3}));
  const std::vector<double> expected{0.75, 0.25, 0.0, 0.25, 0.5, 0.25};
  for (std::size_t place = 0; place < expected.size(); ++place) {
    EXPECT_NEAR(beliefs.values<double>()[place], expected[place], 1e-12);
  }
  const auto complaint = [&](const Table& table) { return toys::message_of([&] { worlds_of(logic, table); }); };
  EXPECT_TRUE(toys::names(complaint(Table(1, 3)), {"worlds", "4", "3"}));
  EXPECT_TRUE(toys::names(complaint(Table{{1, 0, 0, 1}, {0, 2, 0, 0}}), {"worlds", "row 2", "0", "1"}));
  EXPECT_TRUE(toys::names(complaint(Table{{1, 1, 0, 1}}), {"worlds", "row 1", "2", "3", "4", "1"}));
  EXPECT_TRUE(toys::names(toys::message_of([&] {
                            beliefs_of(logic, Table{{0.5, 0.0, 0.0, 0.0}});
                          }),
                          {"beliefs", "row 1", "2", "3", "4", "0"}));
}

}  // namespace
}  // namespace anesi

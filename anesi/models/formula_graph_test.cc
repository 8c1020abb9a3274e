#include "anesi/logic/formula_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "anesi/core/index.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/architecture.h"
#include "anesi/models/graph.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

bool satisfies_graph(const FactorGraph& graph, Values world) {
  return std::ranges::none_of(graph.clauses, [&](const auto& clause) {
    return std::ranges::all_of(clause, [&](const FactorGraph::Edge& edge) {
      return std::ranges::find(edge.falsifying, world[as_size(edge.variable)]) != edge.falsifying.end();
    });
  });
}

TEST(FormulaGraph, IsViolatedWhereTheFormulaIs) {
  const auto problem = toys::small_formula();
  const auto graph = factor_graph_of(*problem->facts().find<Cnf>(), problem->worlds());
  EXPECT_EQ(graph.own_variables, 0);
  EXPECT_EQ(graph.clauses.size(), 5);  // that a variable has one value goes without saying
  problem->worlds().for_each_point(
      [&](Values world) { EXPECT_EQ(satisfies_graph(graph, world), apply_to(*problem, world)[0] == 1); });
}

// Whether the first two of three variables are equal and the third is not 0, by way of a variable of its own.
TEST(FormulaGraph, OfAFunctionIsThatOfItsOutputOne) {
  const toys::RandomSeed seed;
  const Space worlds{2, 2, 3}, outputs{2};
  Cnf cnf(worlds, outputs);
  const auto equal = cnf.fresh_variable(), both = cnf.output(0, 1);
  const auto first = cnf.world(0, 1), second = cnf.world(1, 1), zero = cnf.world(2, 0);
  for (const auto& clause : std::vector<std::vector<int>>{{-equal, -first, second},
                                                          {-equal, first, -second},
                                                          {equal, first, second},
                                                          {equal, -first, -second},
                                                          {-both, equal},
                                                          {-both, -zero},
                                                          {both, -equal, zero}}) {
    cnf.add(clause);
  }
  const auto graph = factor_graph_of(cnf, worlds);
  EXPECT_EQ(graph.own_variables, 0) << "the output decides what its own variable is";
  worlds.for_each_point(
      [&](Values world) { EXPECT_EQ(satisfies_graph(graph, world), world[0] == world[1] && world[2] != 0); });
}

// Whether one of three variables is 1, by way of a variable of the formula's own. What defines it is a loop, which
// counting the cases of the others apart breaks.
TEST(FormulaGraph, CountsModelsOverVariablesOfItsOwn) {
  const toys::RandomSeed seed;
  Cnf cnf(Encoding{.worlds = {{-1, 1}, {-2, 2}, {-3, 3}}, .outputs = {}}, 4, {{-4, 1}, {4, -1}, {4, 2, 3}});
  const Space worlds = Space::uniform(3, 2);
  const auto graph = factor_graph_of(cnf, worlds);
  EXPECT_EQ(graph.own_variables, 1);
  const auto beliefs = toys::random_beliefs(4, worlds, 1, seeded(seed)).to(torch::kFloat32);
  GraphOptions options;
  options.cases = 8;
  options.rounds = 30;
  const auto q = graph_models(graph, std::make_shared<GraphNetwork>(options), /*explain=*/false);
  const torch::NoGradGuard no_gradients;
  const auto counted = q.prediction->log_prob(beliefs, torch::ones({4, 1}, torch::kInt64)).exp();
  const auto none = beliefs.select(2, 0).prod(1);
  EXPECT_TRUE(torch::allclose(counted, 1 - none, 0.02, 0.02)) << counted << 1 - none;
}

TEST(FormulaGraph, TellsWhatItCannotDo) {
  EXPECT_TRUE(toys::names(toys::message_of([] { make_model(*toys::uneven(), "graph"); }), {"graph"}));
  EXPECT_TRUE(toys::names(toys::message_of([] { make_model(toys::Addition(2, 3), "graph"); }), {"graph"}));
  const Cnf nothing(Encoding{.worlds = {{-1, 1}}, .outputs = {}}, 1, {{}});
  EXPECT_THROW(factor_graph_of(nothing, Space{2}), UsageError);
}

TEST(RandomFormula, HasWhatWasAskedFor) {
  std::mt19937_64 random(1);
  const auto cnf = random_formula(10, 25, 3, random);
  EXPECT_EQ(cnf.clauses().size(), 25);
  for (auto clause : cnf.clauses()) {
    std::ranges::sort(clause, {}, [](int literal) { return std::abs(literal); });
    for (std::size_t place = 1; place < 3; ++place) EXPECT_LT(std::abs(clause[place - 1]), std::abs(clause[place]));
  }
}

}  // namespace
}  // namespace anesi

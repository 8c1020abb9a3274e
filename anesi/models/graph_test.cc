#include "anesi/models/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "anesi/core/index.h"
#include "anesi/models/beam.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// What holds for every architecture is tested in models_test.cc.

bool violated(const FactorGraph::Clause& clause, Values world) {
  return std::ranges::all_of(clause, [&](const FactorGraph::Edge& edge) {
    return std::ranges::find(edge.falsifying, world[as_size(edge.variable)]) != edge.falsifying.end();
  });
}

// log p(y=1|P) by going through all worlds, [rows]. For graphs without variables of their own.
torch::Tensor count_by_enumeration(const FactorGraph& graph, const torch::Tensor& beliefs) {
  auto total = torch::zeros({beliefs.size(0)}, beliefs.options());
  graph.worlds.for_each_point([&](Values world) {
    if (std::ranges::any_of(graph.clauses, [&](const auto& clause) { return violated(clause, world); })) return;
    total += world_log_prob(beliefs, tensor_of(world).expand({beliefs.size(0), -1})).exp();
  });
  return total.log();
}

std::shared_ptr<GraphNetwork> network_of(std::int64_t width, std::int64_t cases, std::int64_t rounds = 20) {
  GraphOptions options;
  options.width = width;
  options.cases = cases;
  options.rounds = rounds;
  const auto network = std::make_shared<GraphNetwork>(options);
  network->to(torch::kFloat64);
  return network;
}

torch::Tensor counted(const FactorGraph& graph, const std::shared_ptr<GraphNetwork>& network,
                      const torch::Tensor& beliefs) {
  const torch::NoGradGuard no_gradients;
  return Graph(std::make_shared<const MessagePaths>(graph), network, /*explains=*/false).log_satisfied(beliefs);
}

// Clauses of two and three variables of two to four values, no two of which share more than one.
FactorGraph tree_of_clauses() {
  return {.worlds = {2, 3, 4, 2, 3, 2},
          .own_variables = 0,
          .clauses = {{{0, {1}}, {1, {0, 2}}, {2, {3}}}, {{2, {0, 1}}, {3, {0}}}, {{2, {1, 2}}, {4, {2}}, {5, {1}}}}};
}

FactorGraph with_loops(std::mt19937_64& random, std::int64_t variables, std::int64_t clauses) {
  FactorGraph graph{.worlds = Space::uniform(variables, 2), .own_variables = 0, .clauses = {}};
  for (std::int64_t count = 0; count < clauses; ++count) {
    auto order = std::vector<std::int64_t>(as_size(variables));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    auto& clause = graph.clauses.emplace_back();
    for (std::size_t place = 0; place < 2 + random() % 2; ++place) {
      clause.push_back({order[place], {static_cast<std::int64_t>(random() % 2)}});
    }
  }
  return graph;
}

TEST(Graph, CountsATreeExactly) {
  const toys::RandomSeed seed;
  const auto beliefs = toys::random_beliefs(5, tree_of_clauses().worlds, 1, seeded(seed));
  const auto truth = count_by_enumeration(tree_of_clauses(), beliefs);
  for (const std::int64_t cases : {1, 6}) {
    const auto count = counted(tree_of_clauses(), network_of(0, cases), beliefs);
    EXPECT_TRUE(torch::allclose(count, truth, 0, 1e-4)) << count << truth;
  }
}

TEST(Graph, KnowsAForestFromLoops) {
  const auto is_forest = [](std::vector<FactorGraph::Clause> clauses) {
    return MessagePaths({.worlds = Space::uniform(5, 2), .own_variables = 0, .clauses = std::move(clauses)})
        .is_forest();
  };
  EXPECT_TRUE(MessagePaths(tree_of_clauses()).is_forest());
  EXPECT_TRUE(is_forest({{{0, {0}}, {1, {0}}}, {{2, {0}}, {3, {0}}}, {{4, {1}}}})) << "three trees";
  EXPECT_FALSE(is_forest({{{0, {0}}, {1, {0}}}, {{0, {1}}, {1, {1}}}})) << "two clauses share two variables";
  EXPECT_FALSE(is_forest({{{0, {0}}, {1, {0}}}, {{1, {1}}, {2, {0}}}, {{2, {1}}, {0, {1}}}, {{3, {1}}, {4, {1}}}}));
}

TEST(Graph, BeginsAtBeliefPropagation) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto graph = with_loops(random, 8, 12);
  const auto beliefs = toys::random_beliefs(5, graph.worlds, 1, seeded(seed));
  EXPECT_TRUE(torch::allclose(counted(graph, network_of(8, 4), beliefs), counted(graph, network_of(0, 4), beliefs)));
}

TEST(Graph, IsNearlyExactWhereEveryCaseIsCountedApart) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto graph = with_loops(random, 6, 6);
  const auto beliefs = toys::random_beliefs(5, graph.worlds, 1, seeded(seed));
  const auto count = counted(graph, network_of(0, 64), beliefs).exp(),
             truth = count_by_enumeration(graph, beliefs).exp();
  EXPECT_TRUE(torch::allclose(count, truth, 0.02, 0.02)) << count << truth;
}

// Too long for sums over edges to be products with a matrix. Exact by going along the chain.
TEST(Graph, CountsALongChain) {
  const toys::RandomSeed seed;
  constexpr std::int64_t kLength = 2000;
  FactorGraph chain{.worlds = Space::uniform(kLength, 2), .own_variables = 0, .clauses = {}};
  for (std::int64_t variable = 0; variable + 1 < kLength; ++variable) {
    chain.clauses.push_back({{variable, {0}}, {variable + 1, {0}}});  // not both 0
  }
  chain.clauses.push_back({{0, {0}}, {10, {1}}, {20, {0}}});  // one that is longer
  const auto beliefs = toys::random_beliefs(1, chain.worlds, 0.5, seeded(seed));
  const auto without = [&] {  // of the chain without its last clause
    auto all = chain;
    all.clauses.pop_back();
    return counted(all, network_of(0, 1, 40), beliefs).item<double>();
  }();
  double zero = beliefs[0][0][0].item<double>(), one = beliefs[0][0][1].item<double>(), log_count = 0;
  for (std::int64_t variable = 1; variable < kLength; ++variable) {
    const auto sum = zero + one, share_of_one = one / sum;
    log_count += std::log(sum);
    zero = share_of_one * beliefs[0][variable][0].item<double>();
    one = beliefs[0][variable][1].item<double>();
  }
  log_count += std::log(zero + one);
  EXPECT_NEAR(without, log_count, 1e-2);
  EXPECT_LT(counted(chain, network_of(0, 1, 40), beliefs).item<double>(), without);
}

TEST(Graph, ExplainsATreeExactly) {
  const toys::RandomSeed seed;
  const auto graph = tree_of_clauses();
  const auto beliefs = toys::random_beliefs(3, graph.worlds, 1, seeded(seed));
  GraphOptions options;
  options.defensive = 0;
  const auto network = std::make_shared<GraphNetwork>(options);
  network->to(torch::kFloat64);
  Graph explanation(std::make_shared<const MessagePaths>(graph), network, /*explains=*/true);
  const auto truth = count_by_enumeration(graph, beliefs);
  const torch::NoGradGuard no_gradients;
  const auto best = beam_search(explanation, {beliefs, torch::ones({3, 1}, torch::kInt64)}, 8);
  for (std::int64_t place = 0; place < 8; ++place) {
    const auto worlds = best.values.select(1, place);
    const auto posterior = world_log_prob(beliefs, worlds) - truth;
    EXPECT_TRUE(torch::allclose(best.log_prob.select(1, place), posterior, 0, 0.02));
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto world = values_of(worlds[row]);
      for (const auto& clause : graph.clauses) EXPECT_FALSE(violated(clause, world));
    }
  }
}

TEST(Graph, LeavesImpossibleValuesImpossibleAndGradientsFinite) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto graph = with_loops(random, 6, 10);
  auto beliefs = toys::random_beliefs(2, graph.worlds, 1, seeded(seed));
  beliefs.select(1, 3).copy_(torch::tensor({0.0, 1.0}, torch::kFloat64));
  beliefs.requires_grad_(true);
  const auto network = network_of(8, 4);
  const auto paths = std::make_shared<const MessagePaths>(graph);
  Graph prediction(paths, network, /*explains=*/false), explanation(paths, network, /*explains=*/true);
  auto world = torch::ones({2, 6}, torch::kInt64);
  for (const std::int64_t output : {0, 1}) {
    const auto outputs = torch::full({2, 1}, output, torch::kInt64);
    (prediction.log_prob(beliefs, outputs) + explanation.log_prob({beliefs, outputs}, world)).sum().backward();
  }
  EXPECT_TRUE(beliefs.grad().isfinite().all().item<bool>()) << beliefs.grad();
  for (const auto& parameter : network->parameters()) EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>());
  world.select(1, 3).zero_();
  EXPECT_TRUE(explanation.log_prob({beliefs, torch::ones({2, 1}, torch::kInt64)}, world).isneginf().all().item<bool>());
}

TEST(Graph, SaysWhatIsWrongWithAClause) {
  EXPECT_THROW(MessagePaths({.worlds = {2, 2}, .own_variables = 0, .clauses = {{}}}), UsageError);
  EXPECT_THROW(MessagePaths({.worlds = {2, 2}, .own_variables = 0, .clauses = {{{0, {0, 1}}}}}), UsageError);
}

}  // namespace
}  // namespace anesi

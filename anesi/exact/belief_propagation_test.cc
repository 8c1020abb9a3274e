#include "anesi/exact/belief_propagation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/testing/random_factor_graphs.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// Log-beliefs of several rows in one piece.
struct Beliefs {
  Beliefs(const Space& space, std::vector<toys::LogBelief> beliefs)
      : width(space.largest_domain()),
        numbers(beliefs.size() * as_size(space.variables() * width), kLogOfZero),
        rows(numbers.data(), std::ssize(beliefs), space.variables(), width) {
    for (std::int64_t row = 0; row < rows.size; ++row) {
      for (std::int64_t variable = 0; variable < rows.variables; ++variable) {
        std::ranges::copy(beliefs[as_size(row)][as_size(variable)], &rows(row, variable, 0));
      }
    }
  }
  std::int64_t width;
  std::vector<double> numbers;
  GradientRows rows;
};

toys::LogBelief mild_belief(toys::Chances& chances, const Space& space) {
  toys::LogBelief belief;
  for (const auto domain : space.domains()) {
    auto& logs = belief.emplace_back();
    double sum = 0;
    for (std::int64_t value = 0; value < domain; ++value) sum += std::exp(logs.emplace_back(chances.normal()));
    for (auto& log : logs) log -= std::log(sum);
  }
  return belief;
}

std::vector<double> random_weights(toys::Chances& chances, const FactorGraph& graph) {
  std::vector<double> weights(as_size(graph.weights));
  for (auto& weight : weights) weight = 3 * chances.normal();
  return weights;
}

TEST(BeliefPropagation, CountsTreesExactly) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const auto graph = toys::random_factor_graph(chances, chances.between(1, 8), chances.between(0, 10), 4,
                                                 /*loops=*/false, /*soft=*/chances.chance(0.5));
    const BeliefPropagation propagation(graph);
    EXPECT_TRUE(propagation.is_exact());
    const auto weights = random_weights(chances, graph);
    std::vector<toys::LogBelief> beliefs;
    for (int row = 0; row < 20; ++row) beliefs.push_back(toys::random_log_belief(chances, graph.worlds));
    const Beliefs logs(graph.worlds, beliefs);
    std::vector<double> counts(beliefs.size());
    propagation.log_count(logs.rows, weights, counts);
    for (std::size_t row = 0; row < beliefs.size(); ++row) {
      const double truth = toys::log_count_of(graph, beliefs[row], weights);
      if (truth == toys::Oracle::kNever) {
        EXPECT_EQ(counts[row], truth);
      } else {
        EXPECT_NEAR(counts[row], truth, 1e-9);
      }
    }
  }
}

TEST(BeliefPropagation, IsExactIfCasesBreakAllLoops) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  for (int trial = 0; trial < 50; ++trial) {
    const auto graph = toys::random_factor_graph(chances, 7, 10, 3, /*loops=*/true, /*soft=*/chances.chance(0.5));
    const BeliefPropagation propagation(graph, {.cases = 65536});
    ASSERT_TRUE(propagation.is_exact());
    const auto weights = random_weights(chances, graph);
    const auto belief = toys::random_log_belief(chances, graph.worlds);
    std::vector<double> count(1);
    propagation.log_count(Beliefs(graph.worlds, {belief}).rows, weights, count);
    const double truth = toys::log_count_of(graph, belief, weights);
    if (truth == toys::Oracle::kNever) {
      EXPECT_EQ(count[0], truth);
    } else {
      EXPECT_NEAR(count[0], truth, 1e-9);
    }
  }
}

// With loops left, by central differences.
TEST(BeliefPropagation, GradientsAreThoseOfTheEstimate) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  constexpr double kStep = 1e-5;
  for (int trial = 0; trial < 40; ++trial) {
    const auto graph = toys::random_factor_graph(chances, 6, 12, 3, /*loops=*/true, /*soft=*/trial % 2 == 0);
    const BeliefPropagation propagation(graph, {.rounds = 7, .cases = chances.between(1, 6)});
    auto weights = random_weights(chances, graph);
    std::vector<toys::LogBelief> beliefs;
    for (int row = 0; row < 5; ++row) beliefs.push_back(mild_belief(chances, graph.worlds));
    Beliefs logs(graph.worlds, beliefs), gradient = logs;
    gradient.rows.data = gradient.numbers.data();
    logs.rows.data = logs.numbers.data();
    Matrix<double> by_weights(5, graph.weights);
    std::vector<double> counts(5), above(5), below(5);
    propagation.log_count(logs.rows, weights, counts, gradient.rows, by_weights);
    if (counts[0] == kLogOfZero) continue;
    for (std::int64_t variable = 0; variable < graph.worlds.variables(); ++variable) {
      for (std::int64_t value = 0; value < graph.worlds.domain(variable); ++value) {
        for (std::int64_t row = 0; row < 5; ++row) logs.rows(row, variable, value) += kStep;
        propagation.log_count(logs.rows, weights, above);
        for (std::int64_t row = 0; row < 5; ++row) logs.rows(row, variable, value) -= 2 * kStep;
        propagation.log_count(logs.rows, weights, below);
        for (std::int64_t row = 0; row < 5; ++row) {
          logs.rows(row, variable, value) += kStep;
          EXPECT_NEAR(gradient.rows(row, variable, value), (above[as_size(row)] - below[as_size(row)]) / (2 * kStep),
                      1e-5);
        }
      }
    }
    for (std::size_t weight = 0; weight < weights.size(); ++weight) {
      weights[weight] += kStep;
      propagation.log_count(logs.rows, weights, above);
      weights[weight] -= 2 * kStep;
      propagation.log_count(logs.rows, weights, below);
      weights[weight] += kStep;
      for (std::size_t row = 0; row < 5; ++row) {
        EXPECT_NEAR(by_weights[static_cast<std::int64_t>(row)][weight], (above[row] - below[row]) / (2 * kStep), 1e-5);
      }
    }
  }
}

TEST(BeliefPropagation, IsCloseOnLoops) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  double error = 0, trials = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const auto graph = toys::random_factor_graph(chances, 10, 15, 2, /*loops=*/true, /*soft=*/false);
    const auto belief = mild_belief(chances, graph.worlds);
    const double truth = toys::log_count_of(graph, belief, {});
    if (truth == toys::Oracle::kNever) continue;
    std::vector<double> count(1);
    BeliefPropagation(graph).log_count(Beliefs(graph.worlds, {belief}).rows, {}, count);
    error += std::abs(count[0] - truth);
    ++trials;
  }
  std::cout << "mean absolute error " << error / trials << " of " << trials << "\n";
  EXPECT_LT(error / trials, 0.2);
}

TEST(BeliefPropagation, DoesNotDependOnTheNumberOfThreads) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  const auto graph = toys::random_factor_graph(chances, 9, 15, 3, /*loops=*/true, /*soft=*/false);
  std::vector<toys::LogBelief> beliefs;
  for (int row = 0; row < 100; ++row) beliefs.push_back(toys::random_log_belief(chances, graph.worlds));
  const Beliefs logs(graph.worlds, beliefs);
  const BeliefPropagation propagation(graph);
  std::vector<double> one(100), three(100), alone(1);
  {
    const ThreadLimit limit(1);
    propagation.log_count(logs.rows, {}, one);
  }
  const ThreadLimit limit(3);
  propagation.log_count(logs.rows, {}, three);
  EXPECT_EQ(one, three);
  propagation.log_count(LogBeliefRows(logs.rows).slice(57, 58), {}, alone);
  EXPECT_EQ(alone[0], one[57]) << "nor on what else is asked";
}

TEST(BeliefPropagation, SaysWhatIsWrongWithAClause) {
  EXPECT_THROW(BeliefPropagation({.worlds = {2, 2}, .own_variables = 0, .clauses = {{}}}), UsageError);
  EXPECT_THROW(BeliefPropagation({.worlds = {2, 2}, .own_variables = 0, .clauses = {{{0, {0, 1}}}}}), UsageError);
}

}  // namespace
}  // namespace anesi

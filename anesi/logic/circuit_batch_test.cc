// Counting many rows at once beside counting one after another.
#include "anesi/logic/circuit_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/logic/circuit_builder.h"
#include "anesi/logic/random_formula.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

struct Counted {
  std::vector<double> log_counts;
  std::vector<Circuit::Weights> derivatives;
};

Counted counted(const CircuitBatch& batch, const std::vector<Circuit::Weights>& weights, bool with_derivative = true) {
  Counted counted{std::vector<double>(weights.size(), NAN), std::vector<Circuit::Weights>(weights.size())};
  batch.log_count(
      std::ssize(weights), with_derivative,
      [&](std::int64_t row, std::span<double> into) {
        for (const auto weight : into) EXPECT_EQ(weight, 0);
        std::ranges::copy(weights[as_size(row)], into.begin());
      },
      [&](std::int64_t row, double log_count, std::span<const double> derivative) {
        counted.log_counts[as_size(row)] = log_count;
        counted.derivatives[as_size(row)].assign(derivative.begin(), derivative.end());
      });
  return counted;
}

// Gaps from none to a thousand, and literals that are impossible; at times both of a variable.
Circuit::Weights random_weights(std::mt19937_64& random, const Circuit& circuit) {
  std::normal_distribution<double> normal;
  const double gap = std::array{0.0, 1.0, 10.0, 300.0, 1000.0}[random() % 5];
  Circuit::Weights weights(circuit.places());
  for (auto& weight : weights) weight = random() % 30 == 0 ? Circuit::kNoModel : gap * normal(random);
  weights[circuit.place_of(0)] = 0;
  return weights;
}

void expect_as_one_by_one(const std::shared_ptr<const Circuit>& circuit, std::mt19937_64& random, std::size_t rows) {
  std::vector<Circuit::Weights> weights;
  for (std::size_t row = 0; row < rows; ++row) weights.push_back(random_weights(random, *circuit));
  const CircuitBatch batch(circuit);
  const auto found = counted(batch, weights);
  EXPECT_EQ(counted(batch, weights, false).log_counts, found.log_counts);
  for (std::size_t row = 0; row < rows; ++row) {
    Circuit::Weights derivative;
    const auto log_count = circuit->log_count(weights[row], derivative);
    if (std::isinf(log_count)) {
      ASSERT_EQ(found.log_counts[row], log_count);
    } else {
      ASSERT_NEAR(found.log_counts[row], log_count, 1e-12 * std::max(1.0, std::abs(log_count)));
    }
    for (std::size_t place = 0; place < derivative.size(); ++place) {
      ASSERT_NEAR(found.derivatives[row][place], derivative[place], 1e-12) << "row " << row;
    }
    const auto alone = counted(batch, {weights[row]});
    ASSERT_EQ(alone.log_counts[0], found.log_counts[row]);
    ASSERT_EQ(alone.derivatives[0], found.derivatives[row]);
  }
}

TEST(CircuitBatch, CountsAsOneRowAfterAnother) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    const auto variables = 1 + static_cast<int>(random() % 12);
    const auto cnf = random_formula(variables, static_cast<int>(random() % 20), std::min(variables, 3), random);
    const auto circuit = std::make_shared<const Circuit>(Circuit::compile(variables, cnf.clauses()));
    SCOPED_TRACE(trial);
    expect_as_one_by_one(circuit, random, std::array<std::size_t, 4>{1, 8, 17, 100}[random() % 4]);
    if (HasFatalFailure()) return;
  }
}

// Products of many parts, parts that several share, and what is true whatever the weights.
TEST(CircuitBatch, CountsCircuitsOfAnyShape) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  CircuitBuilder builder(7);
  const auto literal = [&](int of) { return builder.literal(of); };
  const auto shared = builder.product({literal(1), literal(2), literal(-3), literal(4)});
  const auto sum = builder.sum({builder.product({literal(5), literal(6)}), builder.product({literal(-5), literal(7)})});
  const auto both = builder.product({shared, sum});
  const auto either =
      builder.sum({both, builder.product({literal(-1), literal(5)}), builder.product({literal(-2), literal(1)})});
  for (const auto top : {shared, sum, both, either, literal(3), CircuitBuilder::kTrue, CircuitBuilder::kFalse}) {
    expect_as_one_by_one(std::make_shared<const Circuit>(builder.build(top)), random, 20);
  }
}

TEST(CircuitBatch, DoesNotDependOnThreads) {
  std::mt19937_64 random(3);
  const auto cnf = random_formula(20, 40, 3, random);
  const CircuitBatch batch(std::make_shared<const Circuit>(Circuit::compile(20, cnf.clauses())));
  std::vector<Circuit::Weights> weights;
  for (int row = 0; row < 1000; ++row) weights.push_back(random_weights(random, batch.circuit()));
  const ThreadLimit three(3);
  const auto found = counted(batch, weights);
  const ThreadLimit one(1);
  const auto again = counted(batch, weights);
  EXPECT_EQ(found.log_counts, again.log_counts);
  EXPECT_EQ(found.derivatives, again.derivatives);
}

}  // namespace
}  // namespace anesi

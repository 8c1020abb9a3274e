// Markov logic by a circuit beside all worlds.
#include "anesi/logic/soft_circuit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <random>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/logic/random_formula.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

constexpr int kBits = 4, kClauses = 5;
constexpr std::int64_t kRows = 11, kWidth = 4, kVariables = kBits + 1;

// Variables of two values, and one of three; some clauses must hold, others should.
class SoftCircuitTest : public ::testing::Test {
 protected:
  SoftCircuitTest() {
    const auto kept = random_formula(kBits + 3, 2, 3, random_);
    for (const auto& clause : kept.clauses()) hard_.add(clause);
    for (int clause = 0; clause < kClauses; ++clause) {
      soft_.push_back({random_formula(kBits + 3, 1, 1 + clause % 3, random_).clauses()[0]});
    }
    for (std::int64_t row = 0; row < kRows; ++row) {
      const double gap = std::array{1.0, 30.0, 800.0}[random_() % 3];
      for (auto& log : logs_[row]) log = gap * normal_(random_);
      for (auto& weight : weights_[row]) weight = 3 * normal_(random_);
    }
    circuit_.emplace(hard_, soft_);
  }

  bool holds(const std::vector<int>& clause, Values world) const {
    return std::ranges::any_of(clause, [&](int literal) {
      if (literal > kBits + 3) return true;  // the output, which has one value
      for (std::int64_t variable = 0; variable < kVariables; ++variable) {
        for (std::int64_t value = 0; value < space_.domain(variable); ++value) {
          if (hard_.world(variable, value) == literal) return world[as_size(variable)] == value;
          if (hard_.world(variable, value) == -literal) return world[as_size(variable)] != value;
        }
      }
      return false;
    });
  }
  // log p of each world that keeps the hard clauses, not normalised.
  std::map<std::vector<std::int64_t>, double> log_weights(std::int64_t row) {
    std::map<std::vector<std::int64_t>, double> logs;
    space_.for_each_point([&](Values world) {
      if (!std::ranges::all_of(hard_.clauses(), [&](const auto& clause) { return holds(clause, world); })) return;
      double log = 0;
      for (std::int64_t variable = 0; variable < kVariables; ++variable) {
        log += logs_[row][as_size(variable * kWidth + world[as_size(variable)])];
      }
      for (std::size_t clause = 0; clause < kClauses; ++clause) {
        if (holds(soft_[clause].literals, world)) log += weights_[row][clause];
      }
      logs[{world.begin(), world.end()}] = log;
    });
    return logs;
  }
  SoftCircuit::Query query() { return {logs_, weights_}; }

  toys::RandomSeed seed_;
  std::mt19937_64 random_{seed_};
  std::normal_distribution<double> normal_;
  Space space_{2, 2, 2, 2, 3};
  Cnf hard_{space_, Space{1}};
  std::vector<SoftClause> soft_;
  Matrix<double> logs_{kRows, kVariables*kWidth}, weights_{kRows, kClauses};
  std::optional<SoftCircuit> circuit_;
};

TEST_F(SoftCircuitTest, IsRightOnAllWorlds) {
  std::vector<double> found(kRows), best(kRows);
  Matrix<double> by_beliefs(kRows, kVariables * kWidth, 9), by_weights(kRows, kClauses, 9),
      covariances(kRows, kClauses * kClauses, 9);
  Points worlds(kRows, kVariables);
  circuit_->log_partition(query(), found, by_beliefs, by_weights);
  circuit_->covariance(query(), covariances);
  circuit_->most_probable(query(), worlds, best);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto logs = log_weights(row);
    double largest = -INFINITY, sum = 0;
    for (const auto& [world, log] : logs) largest = std::max(largest, log);
    for (const auto& [world, log] : logs) sum += std::exp(log - largest);
    const auto log_partition = largest + std::log(sum);
    ASSERT_NEAR(found[as_size(row)], log_partition, 1e-9 * std::max(1.0, std::abs(log_partition)));
    ASSERT_NEAR(best[as_size(row)], largest - log_partition, 1e-9);
    const auto of_best = logs.find({worlds[row].begin(), worlds[row].end()});
    ASSERT_TRUE(of_best != logs.end());
    EXPECT_NEAR(of_best->second, largest, 1e-9 * std::max(1.0, std::abs(largest)));
    std::vector<double> of_values(kVariables * kWidth), of_clauses(kClauses), of_both(kClauses * kClauses);
    for (const auto& [world, log] : logs) {
      const auto share = std::exp(log - log_partition);
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        of_values[variable * kWidth + as_size(world[variable])] += share;
      }
      for (std::size_t first = 0; first < kClauses; ++first) {
        if (!holds(soft_[first].literals, world)) continue;
        of_clauses[first] += share;
        for (std::size_t second = 0; second < kClauses; ++second) {
          if (holds(soft_[second].literals, world)) of_both[first * kClauses + second] += share;
        }
      }
    }
    for (std::size_t place = 0; place < of_values.size(); ++place) {
      EXPECT_NEAR(by_beliefs[row][place], of_values[place], 1e-9);
    }
    for (std::size_t first = 0; first < kClauses; ++first) {
      EXPECT_NEAR(by_weights[row][first], of_clauses[first], 1e-9);
      for (std::size_t second = 0; second < kClauses; ++second) {
        const auto place = first * kClauses + second;
        EXPECT_NEAR(covariances[row][place], of_both[place] - of_clauses[first] * of_clauses[second], 1e-9);
      }
    }
  }
}

TEST_F(SoftCircuitTest, DrawsWorldsAsLikelyAsTheyAre) {
  constexpr std::int64_t kDraws = 3000;
  std::ranges::fill(logs_[0], -1.0);
  Matrix<double> logs(kDraws, logs_.width(), -1.0);
  Points worlds(kDraws, kVariables);
  Random random(seed_);
  const Matrix<double> weights(Rows<const double>(weights_.rows().data(), 1, kClauses));  // one row for all
  circuit_->sample({logs, weights}, random, worlds);
  std::vector<double> found(1);
  circuit_->log_partition({logs_.rows().slice(0, 1), weights}, found);
  for (const auto& [world, log] : log_weights(0)) {
    double share = 0;
    for (std::int64_t draw = 0; draw < kDraws; ++draw)
      share += std::ranges::equal(worlds[draw], world) ? 1.0 / kDraws : 0;
    const auto p = std::exp(log - found[0]);
    EXPECT_NEAR(share, p, 7 * std::sqrt(p * (1 - p) / kDraws) + 0.002);
  }
}

TEST_F(SoftCircuitTest, KnowsWhatIsImpossible) {
  std::ranges::fill(logs_[0], -INFINITY);
  std::vector<double> found(kRows);
  Points worlds(kRows, kVariables);
  Random random(seed_);
  circuit_->most_probable(query(), worlds, found);
  EXPECT_EQ(found[0], -INFINITY);
  EXPECT_THROW(circuit_->sample(query(), random, worlds), Error);
  EXPECT_THROW(circuit_->log_partition({logs_, logs_}, found), Error);
}

}  // namespace
}  // namespace anesi

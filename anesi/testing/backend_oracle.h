// A back end of exact inference beside the truth: every answer, found by going through all worlds.
//
// For the tests of any back end, also of those outside this library:
//
//   TEST(MyBackend, IsExact) { anesi::toys::expect_exact(my_backend, my_problem, seed); }
//
// The problem must be small, a few thousand worlds at most. Beliefs are extreme and need not be normalised; outputs are
// open in parts, exclude values, or are impossible.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/problem.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/backend.h"
#include "anesi/testing/random_problems.h"

namespace anesi::toys {

// Questions with room for their answers.
class AskedRows {
 public:
  AskedRows(const Backend& backend, std::int64_t size, std::int64_t width)
      : size_(size),
        variables_(backend.worlds().variables()),
        width_(width),
        logs_(as_size(size * variables_ * width), std::numeric_limits<double>::quiet_NaN()),
        outputs_(size, backend.outputs().variables()) {}

  std::int64_t size() const { return size_; }
  std::int64_t width() const { return width_; }
  std::vector<double> numbers() const { return std::vector<double>(logs_.size(), 7); }
  GradientRows as_rows(std::vector<double>& numbers) const { return {numbers.data(), size_, variables_, width_}; }
  GradientRows logs() { return as_rows(logs_); }
  MutablePointRows outputs() { return outputs_; }
  Query query() const { return {{logs_.data(), size_, variables_, width_}, outputs_}; }

 private:
  std::int64_t size_, variables_, width_;
  std::vector<double> logs_;  // not a number past a variable's domain
  Points outputs_;
};

// All that is asked for of one row, by enumeration.
class RowTruth {
 public:
  RowTruth(const Oracle& oracle, const Query& query, std::int64_t row) : logs_(query.logs), row_(row) {
    for (const auto& world : oracle.worlds()) {
      const double log_prob = log_prob_of(world.world);
      bool admitted = true;
      for (std::size_t variable = 0; variable < world.output.size(); ++variable) {
        admitted = admitted && admits(query.outputs[row][variable], world.output[variable]);
      }
      if (log_prob > kLogOfZero) (admitted ? worlds_ : others_).push_back({world.world, log_prob});
    }
    std::ranges::stable_sort(worlds_, std::greater{}, &Oracle::Ranked::log_prob);
  }

  double log_prob_of(Values world) const {
    double sum = 0;
    for (std::size_t i = 0; i < world.size(); ++i) sum += logs_(row_, static_cast<std::int64_t>(i), world[i]);
    return sum;
  }
  // Those of positive probability that give the output, most probable first, and those that do not.
  const std::vector<Oracle::Ranked>& worlds() const { return worlds_; }
  const std::vector<Oracle::Ranked>& others() const { return others_; }

  static double log_prob(const std::vector<Oracle::Ranked>& worlds) {
    std::vector<double> logs;
    for (const auto& world : worlds) logs.push_back(world.log_prob);
    return log_sum(logs);
  }
  // E[[w_i = v] value(w)] over these worlds, [variables, width].
  template <typename Value>
  std::vector<double> means(const std::vector<Oracle::Ranked>& worlds, Value value) const {
    std::vector<double> result(as_size(logs_.row_size()), 0);
    const double total = log_prob(worlds);
    for (const auto& [world, log_prob] : worlds) {
      const double weighted = std::exp(log_prob - total) * value(world, log_prob);
      for (std::size_t i = 0; i < world.size(); ++i) result[i * as_size(logs_.width) + as_size(world[i])] += weighted;
    }
    return result;
  }
  template <typename Value>
  double mean(Value value) const {
    const double total = log_prob(worlds_);
    double result = 0;
    for (const auto& [world, log_prob] : worlds_) result += std::exp(log_prob - total) * value(world, log_prob);
    return result;
  }
  // Cov([w_i = v], value(w)) given the output.
  template <typename Value>
  std::vector<double> covariances(Value value) const {
    const double middle = mean(value);
    return means(worlds_, [&](const auto& world, double log_prob) { return value(world, log_prob) - middle; });
  }

 private:
  LogBeliefRows logs_;
  std::int64_t row_;
  std::vector<Oracle::Ranked> worlds_, others_;
};

class BackendOracle {
 public:
  // `tolerance` is absolute, and relative for large logarithms.
  BackendOracle(const Backend& backend, const Problem& problem, std::uint64_t seed, double tolerance = 1e-9)
      : backend_(backend), problem_(problem), oracle_(problem), chances_(seed), tolerance_(tolerance) {}

  // Every answer for `size` random questions.
  void expect_right(std::int64_t size) {
    ASSERT_EQ(backend_.worlds(), problem_.worlds());
    ASSERT_EQ(backend_.outputs(), problem_.outputs());
    const auto asked = random_questions(size);
    expect_log_probs(asked);
    expect_second_derivatives(asked);
    expect_entropies(asked);
    expect_worlds(asked);
    expect_outputs(asked);
  }

  // A row's answer depends neither on the rows beside it nor on the number of threads.
  void expect_rows_apart(std::int64_t size) {
    const auto asked = random_questions(size);
    const auto [log_probs, gradient] = log_prob_of(asked.query());
    for (const std::int64_t threads : {1, 3}) {
      const ThreadLimit limit(threads);
      const auto again = log_prob_of(asked.query());
      EXPECT_EQ(again.log_probs, log_probs);
      EXPECT_EQ(again.gradient, gradient);
    }
    const auto row_size = std::ssize(gradient) / std::max<std::int64_t>(size, 1);
    for (std::int64_t row = 0; row < size; ++row) {
      const auto alone = log_prob_of(asked.query().slice(row, row + 1));
      expect_near(alone.log_probs[0], log_probs[as_size(row)], 1);
      const auto first = gradient.begin() + row * row_size;
      expect_near(alone.gradient, {first, first + row_size}, 1);
    }
  }

  // Worlds as often as they should come, the same for every number of threads.
  void expect_samples(std::int64_t samples) {
    const auto one = possible_question();
    AskedRows asked(backend_, samples, one.width());
    for (std::int64_t row = 0; row < samples; ++row) {
      std::copy_n(one.query().logs.data, one.query().logs.row_size(), asked.logs().row(row));
      std::ranges::copy(one.query().outputs[0], asked.outputs()[row].begin());
    }
    const auto seed = static_cast<std::uint64_t>(chances_.between(0, 1 << 30));
    Points worlds(samples, backend_.worlds().variables()), again = worlds;
    const auto draw = [&](std::int64_t threads, Points& drawn) {
      const ThreadLimit limit(threads);
      Random random(seed);
      backend_.sample(asked.query(), random, drawn);
    };
    draw(1, worlds);
    draw(3, again);
    EXPECT_EQ(worlds, again);
    std::map<std::vector<std::int64_t>, std::int64_t> counts;
    for (std::int64_t row = 0; row < samples; ++row) ++counts[{worlds[row].begin(), worlds[row].end()}];
    const RowTruth truth(oracle_, asked.query(), 0);
    const double total = RowTruth::log_prob(truth.worlds());
    std::int64_t seen = 0;
    for (const auto& [world, log_prob] : truth.worlds()) {
      const double expected = std::exp(log_prob - total) * static_cast<double>(samples);
      seen += counts[world];
      EXPECT_NEAR(static_cast<double>(counts[world]), expected, 7 * std::sqrt(expected) + 15);
    }
    EXPECT_EQ(seen, samples) << "a world that does not give the output";
  }

 private:
  struct LogProbs {
    std::vector<double> log_probs, gradient;
  };
  LogProbs log_prob_of(const Query& query) const {
    LogProbs result{std::vector<double>(as_size(query.size()), 7),
                    std::vector<double>(as_size(query.size() * query.logs.row_size()), 7)};
    backend_.log_prob(query, result.log_probs,
                      {result.gradient.data(), query.size(), query.logs.variables, query.logs.width});
    return result;
  }

  void expect_near(double value, double truth, double scale) const {
    if (value == truth) return;
    EXPECT_NEAR(value, truth, tolerance_ * std::max({1.0, scale, std::abs(truth)}));
  }
  void expect_near(const std::vector<double>& values, const std::vector<double>& truth, double scale) const {
    ASSERT_EQ(values.size(), truth.size());
    for (std::size_t place = 0; place < values.size(); ++place) expect_near(values[place], truth[place], scale);
  }
  // A row of an answer, beside zeros if the output is impossible.
  void expect_row(const AskedRows& asked, const std::vector<double>& values, std::int64_t row,
                  const std::vector<double>& truth, double scale) const {
    const auto first = values.begin() + row * std::ssize(truth);
    SCOPED_TRACE("row " + std::to_string(row) + " of " + std::to_string(asked.size()));
    expect_near({first, first + std::ssize(truth)}, truth, scale);
  }

  // One possible value, any value, all but one, or perhaps none.
  std::int64_t random_asked(std::int64_t value, std::int64_t domain) {
    if (chances_.chance(0.15)) return kUnset;
    if (chances_.chance(0.15)) return other_than(chances_.between(0, domain - 1));
    if (chances_.chance(0.05)) return other_than(value);
    return chances_.chance(0.05) ? chances_.between(0, domain - 1) : value;
  }

  AskedRows random_questions(std::int64_t size) {
    const auto &worlds = backend_.worlds(), &outputs = backend_.outputs();
    AskedRows asked(backend_, size, worlds.largest_domain() + chances_.between(0, 2));
    for (std::int64_t row = 0; row < size; ++row) {
      const auto belief = random_log_belief(chances_, worlds);
      const bool normalised = chances_.chance(0.7);
      for (std::int64_t i = 0; i < worlds.variables(); ++i) {
        const double factor = normalised ? 0 : chances_.one_of({0.0, -1.5, 3.0, -400.0, 800.0});
        for (std::int64_t v = 0; v < worlds.domain(i); ++v) {
          asked.logs()(row, i, v) = belief[as_size(i)][as_size(v)] + factor;
        }
      }
      const auto& like = oracle_.worlds()[as_size(chances_.between(0, std::ssize(oracle_.worlds()) - 1))].output;
      for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
        asked.outputs()[row][as_size(variable)] = random_asked(like[as_size(variable)], outputs.domain(variable));
      }
    }
    return asked;
  }

  AskedRows possible_question() {
    while (true) {
      auto asked = random_questions(1);
      if (!RowTruth(oracle_, asked.query(), 0).worlds().empty()) return asked;
    }
  }

  void expect_log_probs(const AskedRows& asked) const {
    const auto [log_probs, gradient] = log_prob_of(asked.query());
    std::vector<double> alone(log_probs.size()), of_others(log_probs.size());
    auto slope = asked.numbers();
    backend_.log_prob(asked.query(), alone);
    backend_.log_prob_of_others(asked.query(), of_others, asked.as_rows(slope));
    const auto one = [](const auto&, double) { return 1.0; };
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      const RowTruth truth(oracle_, asked.query(), row);
      expect_near(log_probs[as_size(row)], RowTruth::log_prob(truth.worlds()), 1);
      expect_near(alone[as_size(row)], log_probs[as_size(row)], 1);
      expect_row(asked, gradient, row, truth.means(truth.worlds(), one), 1);
      expect_near(of_others[as_size(row)], RowTruth::log_prob(truth.others()), 1);
      expect_row(asked, slope, row, truth.means(truth.others(), one), 1);
    }
  }

  void expect_second_derivatives(const AskedRows& asked) {
    auto direction = asked.numbers(), result = asked.numbers();
    for (auto& value : direction) value = chances_.normal();
    const auto rows = asked.as_rows(direction);
    backend_.hessian_product(asked.query(), rows, asked.as_rows(result));
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      const RowTruth truth(oracle_, asked.query(), row);
      const auto along = [&](const auto& world, double) {
        double sum = 0;
        for (std::size_t i = 0; i < world.size(); ++i) sum += rows(row, static_cast<std::int64_t>(i), world[i]);
        return sum;
      };
      expect_row(asked, result, row, truth.covariances(along), 1);
    }
  }

  void expect_entropies(const AskedRows& asked) const {
    std::vector<double> entropies(as_size(asked.size()), 7);
    auto gradient = asked.numbers();
    backend_.entropy(asked.query(), entropies, asked.as_rows(gradient));
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      const RowTruth truth(oracle_, asked.query(), row);
      const double total = RowTruth::log_prob(truth.worlds());
      const auto information = [&](const auto&, double log_prob) { return total - log_prob; };
      const double scale = truth.worlds().empty() ? 1 : std::abs(truth.worlds().back().log_prob);
      expect_near(entropies[as_size(row)], truth.mean(information), scale);
      expect_row(asked, gradient, row, truth.covariances(information), scale);
    }
  }

  void expect_worlds(const AskedRows& asked) {
    const auto variables = backend_.worlds().variables();
    Points best(asked.size(), variables);
    std::vector<double> log_probs(as_size(asked.size()), 7);
    backend_.most_probable(asked.query(), best, log_probs);
    const auto top = chances_.between(1, 12);
    const auto ranked = backend_.ranked_worlds(asked.query(), top);
    ASSERT_EQ(std::ssize(ranked), asked.size());
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      const RowTruth truth(oracle_, asked.query(), row);
      const auto& [points, of_points, proven] = ranked[as_size(row)];
      ASSERT_EQ(points.size(), std::min(top, std::ssize(truth.worlds())));
      ASSERT_EQ(std::ssize(of_points), points.size());
      std::set<std::vector<std::int64_t>> seen;
      for (std::int64_t place = 0; place < points.size(); ++place) {
        expect_near(of_points[as_size(place)], truth.worlds()[as_size(place)].log_prob, 1);
        expect_world(truth, points[place], of_points[as_size(place)]);
        EXPECT_TRUE(seen.emplace(points[place].begin(), points[place].end()).second) << "a world twice";
      }
      if (truth.worlds().empty()) {
        EXPECT_EQ(log_probs[as_size(row)], kLogOfZero);
      } else {
        expect_near(log_probs[as_size(row)], truth.worlds()[0].log_prob, 1);
        expect_world(truth, best[row], log_probs[as_size(row)]);
      }
      if (truth.worlds().empty()) {
        Random random(1);
        EXPECT_THROW(backend_.sample(asked.query().slice(row, row + 1), random, best.rows().slice(row, row + 1)),
                     Error);
      }
    }
  }

  // It gives the output and has this probability. Which of equally probable worlds it is may differ.
  void expect_world(const RowTruth& truth, Values world, double log_prob) const {
    const std::vector<std::int64_t> values(world.begin(), world.end());
    EXPECT_TRUE(std::ranges::find(truth.worlds(), values, &Oracle::Ranked::values) != truth.worlds().end());
    expect_near(log_prob, truth.log_prob_of(world), 1);
  }

  void expect_outputs(const AskedRows& asked) {
    const auto top = chances_.between(1, 12);
    const auto ranked = backend_.ranked_outputs(asked.query().logs, top);
    ASSERT_EQ(std::ssize(ranked), asked.size());
    for (std::int64_t row = 0; row < asked.size(); ++row) {
      std::map<std::vector<std::int64_t>, std::vector<double>> logs;
      for (const auto& world : oracle_.worlds()) {
        const double log_prob = RowTruth(oracle_, asked.query().slice(row, row + 1), 0).log_prob_of(world.world);
        if (log_prob > kLogOfZero) logs[world.output].push_back(log_prob);
      }
      std::vector<double> truth;
      for (const auto& [output, of_worlds] : logs) truth.push_back(log_sum(of_worlds));
      std::ranges::sort(truth, std::greater{});
      const auto& [points, of_points, proven] = ranked[as_size(row)];
      ASSERT_EQ(points.size(), std::min(top, std::ssize(truth)));
      EXPECT_TRUE(proven);
      for (std::int64_t place = 0; place < points.size(); ++place) {
        const auto output = points[place];
        expect_near(of_points[as_size(place)], truth[as_size(place)], 1);
        expect_near(of_points[as_size(place)], log_sum(logs[std::vector<std::int64_t>(output.begin(), output.end())]),
                    1);
      }
    }
  }

  const Backend& backend_;
  const Problem& problem_;
  Oracle oracle_;
  Chances chances_;
  double tolerance_;
};

// Everything, at moderate cost.
inline void expect_exact(const Backend& backend, const Problem& problem, std::uint64_t seed, double tolerance = 1e-9) {
  BackendOracle oracle(backend, problem, seed, tolerance);
  for (const std::int64_t size : {0, 1, 17}) oracle.expect_right(size);
  for (const std::int64_t size : {0, 1, 17}) oracle.expect_rows_apart(size);
  oracle.expect_samples(500);
}

}  // namespace anesi::toys

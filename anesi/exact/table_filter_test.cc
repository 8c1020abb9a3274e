#include "anesi/exact/table_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

constexpr std::int64_t kStates = 3, kWidth = 4;

// Two steps of one kind that read two variables each, one that reads nothing and one that emits nothing.
struct Case {
  explicit Case(toys::Chances& chances, std::int64_t rows)
      : size(rows),
        reading(Space{2, 3, 4, 2, 3}, Space{3, 2, 3},
                {{.reads = {0, 1}, .emits = 2, .kind = 0},
                 {.reads = {2}, .emits = std::nullopt, .kind = 1},
                 {.reads = {3, 4}, .emits = 0, .kind = 0},
                 {.reads = {}, .emits = 1, .kind = 2}}),
        initial(distribution(chances, kStates)),
        beliefs(as_size(size * 5 * kWidth)),
        outputs(size, 3) {
    for (std::int64_t index = 0; index < reading.kinds(); ++index) {
      const auto& kind = reading.kind(index);
      auto& table = tables.emplace_back(as_size(kind.emit_domain * kind.combinations() * kStates * kStates));
      for (std::int64_t row = 0; row < kind.combinations() * kStates; ++row) {
        const auto moves = distribution(chances, kind.emit_domain * kStates);
        for (std::int64_t y = 0; y < kind.emit_domain; ++y) {
          for (std::int64_t to = 0; to < kStates; ++to) {
            table[as_size((y * kind.combinations() * kStates + row) * kStates + to)] = moves[as_size(y * kStates + to)];
          }
        }
      }
    }
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t variable = 0; variable < 5; ++variable) {
        std::ranges::copy(distribution(chances, kWidth), beliefs.begin() + (row * 5 + variable) * kWidth);
      }
      outputs[row][0] = chances.between(0, 2);
      outputs[row][1] = chances.chance(0.5) ? kUnset : chances.between(0, 1);
      outputs[row][2] = chances.chance(0.3) ? kUnset : chances.between(0, 2);
    }
  }

  static std::vector<double> distribution(toys::Chances& chances, std::int64_t length) {
    std::vector<double> values(as_size(length));
    double sum = 0;
    for (auto& value : values) sum += value = chances.chance(0.1) ? 0 : std::exp(chances.normal());
    for (auto& value : values) value = sum > 0 ? value / sum : 1 / static_cast<double>(length);
    return values;
  }

  TableFilter<double> filter() const {
    TableFilter<double>::Machine machine{initial, {}};
    for (const auto& table : tables) machine.tables.push_back(table.data());
    return {reading, machine, {beliefs.data(), size, 5, kWidth, outputs}};
  }
  std::vector<double> log_probs() const {
    auto made = filter();
    std::vector<double> result(as_size(size));
    made.log_prob(result);
    return result;
  }

  // log q(y|P), by every way of reading, emitting and moving.
  double truth(std::int64_t row) const {
    const std::function<double(std::size_t, std::int64_t)> from = [&](std::size_t index, std::int64_t state) {
      if (index == reading.steps().size()) return 1.0;
      const auto& step = reading.steps()[index];
      const auto& kind = reading.kind(step.kind);
      double sum = 0;
      for (std::int64_t c = 0; c < kind.combinations(); ++c) {
        double weight = 1;
        for (auto [rest, place] = std::pair(c, step.reads.size()); place-- > 0;) {
          const auto domain = kind.read_domains[place];
          weight *= beliefs[as_size((row * 5 + step.reads[place]) * kWidth + rest % domain)];
          rest /= domain;
        }
        for (std::int64_t y = 0; y < kind.emit_domain; ++y) {
          if (step.emits && !admits(outputs[row][as_size(*step.emits)], y)) continue;
          for (std::int64_t to = 0; to < kStates; ++to) {
            const auto entry = ((y * kind.combinations() + c) * kStates + state) * kStates + to;
            sum += weight * tables[as_size(step.kind)][as_size(entry)] * from(index + 1, to);
          }
        }
      }
      return sum;
    };
    double sum = 0;
    for (std::int64_t state = 0; state < kStates; ++state) sum += initial[as_size(state)] * from(0, state);
    return std::log(sum);
  }

  std::int64_t size;
  ReadingOrder reading;
  std::vector<double> initial;
  std::vector<std::vector<double>> tables;
  std::vector<double> beliefs;
  Points outputs;
};

TEST(TableFilter, IsTheSumOfAllWays) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  const Case example(chances, 50);
  const auto log_probs = example.log_probs();
  for (std::int64_t row = 0; row < example.size; ++row) {
    EXPECT_NEAR(std::exp(log_probs[as_size(row)]), std::exp(example.truth(row)), 1e-14);
  }
}

TEST(TableFilter, GradientsAreSlopes) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  Case example(chances, 7);
  std::vector<double> factors;
  for (std::int64_t row = 0; row < example.size; ++row) factors.push_back(chances.normal());
  auto filter = example.filter();
  std::vector<double> log_probs(factors.size()), of_beliefs(example.beliefs.size()), of_initial(kStates);
  auto of_tables = example.tables;
  filter.log_prob(log_probs);
  if (std::ranges::any_of(log_probs, [](double value) { return std::isinf(value); })) return;
  TableFilter<double>::Gradients gradients{of_beliefs.data(), of_initial.data(), {}};
  for (auto& table : of_tables) {
    std::ranges::fill(table, 0);
    gradients.tables.push_back(table.data());
  }
  filter.add_gradients(factors, gradients);
  const auto expect_slopes = [&](std::vector<double>& values, const std::vector<double>& slopes) {
    for (std::size_t place = 0; place < values.size(); ++place) {
      const double before = values[place], step = 1e-6;
      double slope = 0;
      for (const double sign : {1.0, -1.0}) {
        values[place] = before + sign * step;
        const auto moved = example.log_probs();
        for (std::size_t row = 0; row < moved.size(); ++row) slope += sign * factors[row] * moved[row] / (2 * step);
      }
      values[place] = before;
      EXPECT_NEAR(slopes[place], slope, 1e-6 * std::max(1.0, std::abs(slope)));
    }
  };
  expect_slopes(example.beliefs, of_beliefs);
  expect_slopes(example.initial, of_initial);
  for (std::size_t kind = 0; kind < example.tables.size(); ++kind) {
    expect_slopes(example.tables[kind], of_tables[kind]);
  }
}

TEST(TableFilter, SumsDoNotDependOnThreads) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  const Case example(chances, 20000);
  const std::vector<double> factors(as_size(example.size), 0.5);
  const auto gradient = [&](std::int64_t threads) {
    const ThreadLimit limit(threads);
    auto filter = example.filter();
    std::vector<double> log_probs(factors.size());
    filter.log_prob(log_probs);
    auto of_tables = example.tables;
    TableFilter<double>::Gradients gradients;
    for (auto& table : of_tables) gradients.tables.push_back(table.data());
    filter.add_gradients(factors, gradients);
    return std::pair(log_probs, of_tables);
  };
  EXPECT_EQ(gradient(1), gradient(3));
}

TEST(TableFilter, RefusesWhatDoesNotFit) {
  toys::Chances chances(1);
  Case example(chances, 2);
  example.outputs[1][0] = 3;
  EXPECT_THROW(example.filter(), Error);
  example.outputs[1][0] = kNone;
  EXPECT_THROW(example.filter(), Error);
  example.outputs = Points(2, 2);
  EXPECT_THROW(example.filter(), Error);
}

}  // namespace
}  // namespace anesi

#include "anesi/logic/circuit_batch.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

constexpr std::size_t kRows = 8;  // at once
// So many numbers from 1 to 2 can be multiplied.
constexpr std::int32_t kFactorsAtOnce = 1000;

// A number for each row. Without alignas, its alignment depends on the instruction set.
struct alignas(kRows * sizeof(double)) Lanes {
  double of __attribute__((vector_size(kRows * sizeof(double))));
};

ANESI_VECTORIZED void go_forward(const CircuitPlan& plan, Lanes* values) {
  const auto* const products = plan.products.data();
  Lanes* value = values + plan.first_step();
  for (const auto& step : plan.steps) {
    Lanes sum{};
    for (auto place = step.begin; place < step.end; ++place) {
      sum.of += values[products[place].first].of * values[products[place].second].of;
    }
    *value++ = sum;
  }
}

// The derivatives by the slots, in which nothing is divided by what may be zero. They are at most 1, since no two parts
// of a sum are true at once.
ANESI_VECTORIZED void go_backward(const CircuitPlan& plan, const Lanes* values, Lanes* slopes) {
  const auto* const products = plan.products.data();
  const Lanes* slope = slopes + plan.slots();
  for (auto index = plan.steps.size(); index-- > 0;) {
    const auto& step = plan.steps[index];
    const Lanes above = *--slope;
    for (auto place = step.begin; place < step.end; ++place) {
      const auto [first, second] = products[place];
      slopes[first].of += above.of * values[second].of;
      slopes[second].of += above.of * values[first].of;
    }
  }
}

}  // namespace

struct CircuitBatch::Block {
  Block(const CircuitPlan& plan, std::size_t places, bool with_derivative)
      : weights(kRows * places),
        derivative(with_derivative ? kRows * places : 0),
        values(as_size(plan.slots())),
        slopes(with_derivative ? values.size() : 0) {}

  std::vector<double> weights, derivative;  // [rows, places]
  std::vector<Lanes> values, slopes;        // [slots]
  std::array<double, kRows> log_scales{};   // what the weights were divided by
};

CircuitBatch::CircuitBatch(std::shared_ptr<const Circuit> circuit)
    : circuit_(std::move(circuit)), plan_(circuit_->satisfiable() ? plan_of(*circuit_) : CircuitPlan{}) {}

// Makes the weights of each variable's two literals sum to one.
void CircuitBatch::take_weights(Block& block) const {
  const auto places = circuit_->places();
  const auto middle = circuit_->place_of(0);
  block.log_scales.fill(0);
  block.values[CircuitPlan::kOne].of = Lanes{}.of + 1;
  std::array<double, kRows> factors;
  factors.fill(1);
  const auto take_factors = [&] {
    for (std::size_t row = 0; row < kRows; ++row) block.log_scales[row] += std::log(factors[row]);
    factors.fill(1);
  };
  for (std::int32_t variable = 1; variable <= plan_.variables; ++variable) {
    auto& shares = block.values[as_size(CircuitPlan::slot_of(variable))].of;
    auto& shares_not = block.values[as_size(CircuitPlan::slot_of(-variable))].of;
    for (std::size_t row = 0; row < kRows; ++row) {
      const double* const of_none = block.weights.data() + row * places + middle;
      const double is = of_none[variable], is_not = of_none[-variable];
      const double smaller = std::exp(-std::abs(is - is_not)), both = 1 + smaller;
      // NaN if both are impossible.
      shares[row] = (is >= is_not ? 1 : smaller) / both;
      shares_not[row] = (is >= is_not ? smaller : 1) / both;
      factors[row] *= both;
      block.log_scales[row] += std::max(is, is_not);
    }
    if (variable % kFactorsAtOnce == 0) take_factors();
  }
  take_factors();
}

// The derivative by the logarithm of a literal's weight is the probability that it is true. In steps that do not name a
// variable, its literals are as likely as their weights say.
void CircuitBatch::find_derivative(Block& block) const {
  std::ranges::fill(block.slopes, Lanes{});
  block.slopes[as_size(plan_.formula)].of += 1;
  go_backward(plan_, block.values.data(), block.slopes.data());
  const auto places = circuit_->places();
  const auto middle = circuit_->place_of(0);
  const Lanes total = block.values[as_size(plan_.formula)];
  for (std::int32_t variable = 1; variable <= plan_.variables; ++variable) {
    const auto is = as_size(CircuitPlan::slot_of(variable)), is_not = as_size(CircuitPlan::slot_of(-variable));
    const auto share = block.values[is].of, share_not = block.values[is_not].of;
    const auto named = block.slopes[is].of * share / total.of,
               named_not = block.slopes[is_not].of * share_not / total.of;
    const auto left = 1 - named - named_not;
    const auto not_named = left > 0 ? left : Lanes{}.of;
    const auto probability = named + not_named * share, probability_not = named_not + not_named * share_not;
    for (std::size_t row = 0; row < kRows; ++row) {
      double* const of_none = block.derivative.data() + row * places + middle;
      of_none[variable] = probability[row];
      of_none[-variable] = probability_not[row];
    }
  }
}

void CircuitBatch::count(Block& block, std::int64_t begin, std::int64_t end, const Fill& fill, const Take& take) const {
  const auto places = circuit_->places();
  std::ranges::fill(block.weights, 0.0);
  for (auto row = begin; row < end; ++row)
    fill(row, std::span(block.weights).subspan(as_size(row - begin) * places, places));
  take_weights(block);
  go_forward(plan_, block.values.data());
  if (!block.derivative.empty()) find_derivative(block);
  const auto counts = block.values[as_size(plan_.formula)].of;
  Circuit::Weights weights, derivative;
  for (auto row = begin; row < end; ++row) {
    const auto index = as_size(row - begin);
    const auto slope =
        block.derivative.empty() ? std::span<double>() : std::span(block.derivative).subspan(index * places, places);
    // NaN if a variable can be neither true nor false.
    if (counts[index] >= Circuit::kSmallestCount && !std::isnan(block.log_scales[index])) {
      take(row, std::log(counts[index]) + block.log_scales[index], slope);
      continue;
    }
    const auto given = std::span(block.weights).subspan(index * places, places);
    weights.assign(given.begin(), given.end());
    if (slope.empty()) {
      take(row, circuit_->log_count(weights), slope);
    } else {
      const auto log_count = circuit_->log_count(weights, derivative);
      take(row, log_count, derivative);
    }
  }
}

void CircuitBatch::log_count(std::int64_t rows, bool with_derivative, const Fill& fill, const Take& take) const {
  constexpr auto kAtOnce = static_cast<std::int64_t>(kRows);
  if (!circuit_->satisfiable()) {
    const std::vector<double> derivative(with_derivative ? circuit_->places() : 0, 0.0);
    for (std::int64_t row = 0; row < rows; ++row) take(row, Circuit::kNoModel, derivative);
    return;
  }
  parallel_for((rows + kAtOnce - 1) / kAtOnce, 1, [&](std::int64_t first, std::int64_t last) {
    Block block(plan_, circuit_->places(), with_derivative);
    for (auto begin = first * kAtOnce; begin < std::min(last * kAtOnce, rows); begin += kAtOnce) {
      count(block, begin, std::min(begin + kAtOnce, rows), fill, take);
    }
  });
}

}  // namespace anesi

// The steps of a reading order with everything looked up that inner loops over machines with finitely many states need.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "anesi/core/reading_order.h"

namespace anesi {

struct PlannedStep {
  std::vector<std::int64_t> reads, domains;  // world variables, and how many values each has
  std::int64_t emits = -1;                   // output variable, -1 where nothing is emitted
  std::int64_t kind = 0, combinations = 1, emitted = 1;
};

inline std::vector<PlannedStep> planned_steps(const ReadingOrder& reading) {
  std::vector<PlannedStep> steps;
  for (const auto& step : reading.steps()) {
    const auto& kind = reading.kind(step.kind);
    steps.push_back(
        {step.reads, kind.read_domains, step.emits.value_or(-1), step.kind, kind.combinations(), kind.emit_domain});
  }
  return steps;
}

// The probability of every combination of values that a step reads, the last variable running fastest. `belief` is
// [variables, width], and `weights` has room for as many as there are combinations.
template <typename Real>
void combination_weights(const PlannedStep& step, const Real* belief, std::int64_t width, std::vector<Real>& weights) {
  weights[0] = 1;
  std::int64_t size = 1;
  for (std::size_t index = 0; index < step.reads.size(); ++index) {
    const Real* const row = belief + step.reads[index] * width;
    const auto domain = step.domains[index];
    for (auto before = size - 1; before >= 0; --before) {
      const Real weight = weights[static_cast<std::size_t>(before)];
      for (auto value = domain - 1; value >= 0; --value) {
        weights[static_cast<std::size_t>(before * domain + value)] = weight * row[value];
      }
    }
    size *= domain;
  }
}

// Turns the gradient of the combinations' weights into that of the beliefs of the variables read.
template <typename Real>
void combination_weights_backward(const PlannedStep& step, const Real* belief, std::int64_t width,
                                  const std::vector<Real>& weight_gradient, Real* belief_gradient) {
  for (std::size_t target = 0; target < step.reads.size(); ++target) {
    Real* const gradient = belief_gradient + step.reads[target] * width;
    for (std::int64_t c = 0; c < step.combinations; ++c) {
      Real others = weight_gradient[static_cast<std::size_t>(c)];
      if (others == 0) continue;
      std::int64_t value_of_target = 0, rest = c;
      for (auto index = step.reads.size(); index-- > 0;) {
        const auto value = rest % step.domains[index];
        rest /= step.domains[index];
        if (index == target) {
          value_of_target = value;
        } else {
          others *= belief[step.reads[index] * width + value];
        }
      }
      gradient[value_of_target] += others;
    }
  }
}

// Writes a combination's values into a world.
inline void write_combination(const PlannedStep& step, std::int64_t combination, std::int64_t* world) {
  for (auto index = step.reads.size(); index-- > 0;) {
    world[step.reads[index]] = combination % step.domains[index];
    combination /= step.domains[index];
  }
}

// Log-probabilities of a variable's values, [domain], from the weights of the combinations that are left, of which each
// value has a block. Where nothing is possible any more (after a choice of probability zero), anything goes.
inline void log_shares_of_values(const double* weight, std::int64_t block, std::int64_t domain, double* log_shares) {
  double total = 0;
  for (std::int64_t value = 0; value < domain; ++value, weight += block) {
    total += log_shares[value] = std::accumulate(weight, weight + block, 0.0);
  }
  for (std::int64_t value = 0; value < domain; ++value) {
    log_shares[value] = total > 0 ? std::log(log_shares[value] / total) : -std::log(static_cast<double>(domain));
  }
}

// An index in proportion to its weight; `uniform` is from [0, 1).
inline std::int64_t choose_by_weight(const double* weights, std::int64_t size, double uniform) {
  double left = uniform * std::accumulate(weights, weights + size, 0.0);
  std::int64_t last = 0;
  for (std::int64_t index = 0; index < size; ++index) {
    if (weights[index] == 0) continue;
    last = index;
    left -= weights[index];
    if (left < 0) break;
  }
  return last;
}

}  // namespace anesi

// The steps of a reading order with everything looked up that inner loops over machines with finitely many states need.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/models/reading_order.h"

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

}  // namespace anesi

// Worlds that violate a constraint, of which no circuit is made.
#pragma once

#include <cstdint>

#include "anesi/logic/compiled_formula.h"

namespace anesi {

// The logarithm of a belief of each world variable, as it lies in memory.
struct BelievedLogs {
  const double* values;  // [variables, width]
  std::int64_t width;
  double operator()(std::int64_t variable, std::int64_t value) const { return values[variable * width + value]; }
};

// Draws, and worlds by falling probability, among which one that violates a constraint is looked for before a circuit
// of the violations is made.
inline constexpr int kDrawsToViolate = 1000, kWorldsToViolate = 100000;

// The most probable world that violates a constraint, found among all worlds by falling probability. Returns its
// log-probability; -inf where there is none within the limit.
double best_violation(const CompiledFormula& formula, const BelievedLogs& logs, std::int64_t* world);

}  // namespace anesi

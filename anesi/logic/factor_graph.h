// A constraint as clauses between variables: what messages are passed along.
//
// A clause is violated where each variable it looks at has one of the values that it names for it; a world satisfies
// the constraint where no clause is violated. That covers clauses over variables of any domain: where a literal says
// "variable 3 has value 7", all other values of variable 3 make it false.
//
// A soft clause need not hold: worlds in which it does are exp(weight) times as likely for it.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

struct FactorGraph {
  struct Edge {
    std::int64_t variable;
    std::vector<std::int64_t> falsifying;  // values of it that do not satisfy the clause: some, but not all
  };
  using Clause = std::vector<Edge>;  // of different variables, at least one

  Space worlds;
  std::int64_t own_variables = 0;  // of the formula itself, numbered after the worlds'; of two values each
  std::vector<Clause> clauses;
  // Clauses that need not hold: which of the weights is each clause's own, or kMustHold. Empty where all must.
  static constexpr std::int64_t kMustHold = -1;
  std::vector<std::int64_t> weight_of = {};
  std::int64_t weights = 0;
};

}  // namespace anesi

// The steps in which a circuit is counted, without what smoothing added to it.
//
// If the weights of the two literals of a variable sum to one, so does each sum of both, and a product need not name
// it. That leaves far less to compute: of a circuit of paths with 3,336 nodes and 7,446 edges, 1,234 steps with 2,712
// products remain.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "anesi/logic/circuit.h"

namespace anesi {

// What is computed stands in slots: one that is always 1, two for each variable, one for each step.
struct CircuitPlan {
  // A sum of products of two slots each.
  struct Step {
    std::int32_t begin, end;  // of its products
  };
  struct Product {
    std::int32_t first, second;  // slots before that of the step
  };

  static constexpr std::int32_t kOne = 0;
  static std::int32_t slot_of(int literal) { return 2 * std::abs(literal) - (literal > 0 ? 1 : 0); }
  std::int32_t first_step() const { return 2 * variables + 1; }
  std::int32_t slots() const { return first_step() + static_cast<std::int32_t>(steps.size()); }

  std::int32_t variables = 0;
  std::vector<Step> steps = {};
  std::vector<Product> products = {};
  std::int32_t formula = kOne;  // the slot of the whole
};

// Of a circuit that has a model.
CircuitPlan plan_of(const Circuit& circuit);

}  // namespace anesi

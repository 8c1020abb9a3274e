// Explanation models that choose in one order or in any, on random formulas: how near q(w|y=1,P) comes to the truth.
#pragma once

#include <string>
#include <vector>

#include "anesi/losses/amortized.h"

namespace anesi {

struct OrderCheckOptions {
  int variables = 8, clauses = 16, literals = 3;
  std::int64_t formulas = 2, steps = 1000, beliefs = 100, orders = 6, draws = 10;
  double learning_rate = 1e-3;
  AmortizedOptions q{.samples = 128, .variant = Variant::kExplain, .prediction_weight = 1};
};

// Means over formulas and over beliefs that are uniform between 0 and 1; KL(p(w|y=1,P) || q(w|y=1,P)) in nats.
struct OrderCheck {
  double divergence = 0;                 // in the model's own order
  std::vector<double> divergences = {};  // of each formula
  double any_order = 0;                  // in orders drawn at random; not a number where a model knows only its own
  double satisfied = 0;                  // share of the worlds it draws
  double seconds = 0;                    // of training, a formula
};

// Trains a q of this architecture for each formula, by joint matching. The same seed draws the same
// formulas and beliefs for every architecture.
OrderCheck check_orders(const std::string& architecture, const std::vector<std::string>& settings,
                        const OrderCheckOptions& options, std::uint64_t seed);

}  // namespace anesi

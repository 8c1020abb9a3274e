// Counting the models of one circuit for many rows of weights: eight rows at once in each step. Takes 64 bytes for each
// step in each thread, and as much again for derivatives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "anesi/logic/circuit.h"
#include "anesi/logic/circuit_plan.h"

namespace anesi {

// Constant; several threads may ask at once.
class CircuitBatch {
 public:
  explicit CircuitBatch(std::shared_ptr<const Circuit> circuit);

  const Circuit& circuit() const { return *circuit_; }

  // Writes the logarithms of a row's weights, of each literal at Circuit::place_of; all are 0 before.
  using Fill = std::function<void(std::int64_t row, std::span<double> weights)>;
  // Takes a row's Circuit::log_count and its derivative, which is 0 if there is no model, and empty if it was not asked
  // for.
  using Take = std::function<void(std::int64_t row, double log_count, std::span<const double> derivative)>;
  // Calls both once for each row, from several threads at once. What a row gets does not depend on the others.
  void log_count(std::int64_t rows, bool with_derivative, const Fill& fill, const Take& take) const;

 private:
  struct Block;
  void count(Block& block, std::int64_t begin, std::int64_t end, const Fill& fill, const Take& take) const;
  void take_weights(Block& block) const;
  void find_derivative(Block& block) const;

  std::shared_ptr<const Circuit> circuit_;
  CircuitPlan plan_;
};

}  // namespace anesi

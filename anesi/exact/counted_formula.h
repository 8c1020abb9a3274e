// A compiled formula, and the circuits by which its models and the worlds that violate it are counted.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "anesi/logic/circuit_batch.h"
#include "anesi/logic/compiled_formula.h"

namespace anesi {

// Constant; several threads may ask at once.
class CountedFormula {
 public:
  // Compiles for at most so many seconds, when the violations are first asked for.
  CountedFormula(std::shared_ptr<const CompiledFormula> formula, double seconds)
      : formula_(std::move(formula)), seconds_(seconds), models_({formula_, &formula_->circuit}) {}

  const CompiledFormula& formula() const { return *formula_; }
  const CircuitBatch& models() const { return models_; }
  // See violations_of. Throws Error if it did not compile.
  const CircuitBatch& violations() const;

 private:
  std::shared_ptr<const CompiledFormula> formula_;
  double seconds_;
  CircuitBatch models_;
  mutable std::mutex mutex_;
  mutable std::optional<CircuitBatch> violations_;
  mutable std::string why_not_;
};

}  // namespace anesi

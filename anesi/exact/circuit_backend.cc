#include "anesi/exact/circuit_backend.h"

#include "anesi/exact/formula_backend.h"

namespace anesi {
namespace {

class CircuitBackend final : public FormulaBackend {
 public:
  CircuitBackend(const Problem& problem, const std::shared_ptr<const CompiledFormula>& formula, double seconds)
      : FormulaBackend(problem, formula->encoding, formula->circuit.variables()), formula_(formula, seconds) {}

  const CountedFormula& formula_for(Values) const override { return formula_; }

 private:
  CountedFormula formula_;
};

}  // namespace

std::unique_ptr<Backend> make_circuit_backend(const Problem& problem, double seconds) {
  return std::make_unique<CircuitBackend>(problem, compiled_formula(problem, seconds), seconds);
}

}  // namespace anesi

#include "anesi/exact/circuit_backend.h"

#include "anesi/exact/backends.h"
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

// What compiling takes is not known before; the limit is what it may take.
std::optional<BackendCost> applies(const Problem& problem, const ExactOptions& options) {
  constexpr double kOperationsANode = 4, kNodesExpected = 10000, kBytesANode = 100;
  if (const auto* const compiled = problem.facts().find<CompiledFormula>()) {
    const auto nodes = static_cast<double>(compiled->circuit.nodes());
    return BackendCost{.operations = kOperationsANode * nodes, .bytes = kBytesANode * nodes};
  }
  if (!has_formula(problem)) return std::nullopt;
  return BackendCost{.seconds = options.seconds,
                     .operations = kOperationsANode * kNodesExpected,
                     .bytes = kBytesANode * kNodesExpected};
}

[[maybe_unused]] const bool registered =
    backends().add("circuit", {.summary = "one circuit of the problem's formula",
                               .applies = applies,
                               .make = [](const Problem& problem, const ExactOptions& options) {
                                 return make_circuit_backend(problem, options.seconds);
                               }});

}  // namespace

std::unique_ptr<Backend> make_circuit_backend(const Problem& problem, double seconds) {
  return std::make_unique<CircuitBackend>(problem, compiled_formula(problem, seconds), seconds);
}

}  // namespace anesi

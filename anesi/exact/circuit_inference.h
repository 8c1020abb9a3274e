// Exact inference on a compiled formula: weighted model counting on a circuit.
#pragma once

#include <memory>

#include "anesi/core/exact_inference.h"
#include "anesi/core/problem.h"
#include "anesi/core/pruner.h"
#include "anesi/exact/circuit.h"
#include "anesi/exact/cnf.h"

namespace anesi {

// A fact: a formula that is compiled already, over the literals of its encoding. Buys exact inference and an exact
// pruner.
struct CompiledFormula {
  Circuit circuit;
  Encoding encoding;
};

inline bool has_formula(const Problem& problem) {
  return problem.facts().find<CompiledFormula>() != nullptr || problem.facts().find<Cnf>() != nullptr;
}

// The problem's own, or that of its formula. Throws Error where the problem gives no formula or it does not compile
// within `seconds`.
std::shared_ptr<const CompiledFormula> compiled_formula(const Problem& problem, double seconds = 60);

// Throws Error as above.
std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds = 60);

// A circuit for each output that is asked about, compiled when it first is: where the formula of the whole function is
// too large but that of the worlds behind one output is not, as in sudoku. Throws Error as above, then.
std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds = 60);

// Whether some model agrees with a world, or with what is chosen of it already (kUnset: not yet).
bool satisfies(const CompiledFormula& formula, Values world);

// Exact: allows what some model completes.
std::unique_ptr<Pruner> make_circuit_pruner(std::shared_ptr<const CompiledFormula> formula);

}  // namespace anesi

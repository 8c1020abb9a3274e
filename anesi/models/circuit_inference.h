// Exact inference on a compiled formula: weighted model counting on a circuit.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

// Throws Error where the problem gives no formula or it does not compile within `seconds`.
std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds = 60);

// A circuit for each output that is asked about, compiled when it first is: where the formula of the whole function is
// too large but that of the worlds behind one output is not, as in sudoku. Throws Error as above, then.
std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds = 60);

}  // namespace anesi

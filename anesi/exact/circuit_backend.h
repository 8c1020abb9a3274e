// Exact inference by circuits: weighted counting of the models of compiled formulas (Darwiche 2011).
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/exact/backend.h"

namespace anesi {

// One circuit of the whole formula, for all outputs. Throws Error if the problem gives no formula or if it does not
// compile within `seconds`.
std::unique_ptr<Backend> make_circuit_backend(const Problem& problem, double seconds = 60);

// A circuit for each output that is asked about, compiled when it first is: for formulas of whole functions that are
// too large but small enough once the output is known, as in sudoku. Throws Error as above, then.
std::unique_ptr<Backend> make_conditioned_circuits_backend(const Problem& problem, double seconds = 60);

}  // namespace anesi

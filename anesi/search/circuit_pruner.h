// What a compiled formula allows.
#pragma once

#include <memory>

#include "anesi/core/pruner.h"
#include "anesi/logic/compiled_formula.h"

namespace anesi {

// Exact: allows what some model completes.
std::unique_ptr<Pruner> make_circuit_pruner(std::shared_ptr<const CompiledFormula> formula);

}  // namespace anesi

// Compiles a formula by going through the values of its variables.
//
// A variable is decided, what follows by unit clauses is assigned, and what is left falls apart into components that
// share no variable: the circuit is a sum over the two values of products over components. A component that was met
// before, under other decisions, is the same part of the circuit. Conflicts are learned from (propagation.h). Two
// compilers take turns until one is done. One decides variables along a tree decomposition of the formula
// (elimination_order.h), so that compiling takes time exponential in its width at worst; the other, for formulas
// without such a structure, those that are in most clauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "anesi/logic/circuit.h"

namespace anesi {

struct CompilerLimits {
  double seconds = 60;                             // of this thread's time
  std::int64_t nodes = std::int64_t{1} << 22;      // of the circuit before it is smooth
  std::size_t cache_bytes = std::size_t{1} << 28;  // for components; beyond them they are forgotten
};

// The circuit of what the formula says of the variables that are not hidden: of their assignments that extend to a
// model. In the circuit hidden variables are false. Clauses may name `further` variables beyond `variables`, which are
// hidden and not in the circuit. Throws Error if that takes longer or the circuit becomes too large.
Circuit compile_by_decisions(int variables, const std::vector<std::vector<int>>& clauses,
                             const std::vector<int>& hidden, const CompilerLimits& limits, int further = 0);

// Circuit::complement for builds without libsdd, which is much faster.
Circuit complement_by_decisions(const Circuit& circuit, const std::vector<int>& hidden,
                                const std::vector<std::vector<int>>& clauses, const CompilerLimits& limits);

}  // namespace anesi

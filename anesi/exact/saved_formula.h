// A formula as arrays, so that a saved model brings it along: the clauses, the circuit where there is one, or both.
#pragma once

#include "anesi/core/array.h"
#include "anesi/core/problem.h"

namespace anesi {

// Of each of the two, at most so many bytes are saved; what is larger must be brought again.
inline constexpr std::size_t kMostBytesOfFormula = std::size_t{4} << 20;

// Adds the problem's formula, where it has one. Of one that is too large, only that there was one.
void save_formula(const Problem& problem, NamedArrays& arrays);

// Whether a formula was there; whether it was saved too is seen from the facts.
bool names_formula(const NamedArrays& saved);

// Adds what was saved: a Cnf, a CompiledFormula, both or none. Throws Error where they are damaged or of other spaces.
void load_formula(const NamedArrays& saved, const Space& worlds, const Space& outputs, Facts& facts);

}  // namespace anesi

// A formula that is compiled, and what worlds and outputs are in it.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/logic/circuit.h"
#include "anesi/logic/cnf.h"

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

// Throws Error where the problem gives none.
const Cnf& formula_of(const Problem& problem);

// Throws Error where it does not compile within `seconds`.
std::shared_ptr<const CompiledFormula> compiled_formula(const Cnf& cnf, double seconds = 60);
// The problem's own, or that of its formula. Throws Error where the problem gives no formula or it does not compile
// within `seconds`.
std::shared_ptr<const CompiledFormula> compiled_formula(const Problem& problem, double seconds = 60);

// Of a constraint: the worlds that violate it, over the same literals. Further variables of the formula are false in
// it. Throws Error where it does not compile within `seconds`.
Circuit violations_of(const CompiledFormula& formula, double seconds = 60);

// Which literals may be true once these values are chosen (kUnset: not yet).
Circuit::OfLiterals<char> decided(const Circuit& circuit, const Encoding::Literals& literals, Values values);
// Of the values of one more variable this may be true alone.
void decide(Circuit::OfLiterals<char>& may_be_true, const Circuit& circuit, const std::vector<int>& literals,
            std::int64_t value);

// Whether some model agrees with a world, or with what is chosen of it already (kUnset: not yet).
bool satisfies(const CompiledFormula& formula, Values world);

}  // namespace anesi

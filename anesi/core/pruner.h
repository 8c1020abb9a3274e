// Which choices can still be completed: the symbolic pruner s of section 3.3 of the paper.
//
// Sampling and beam search choose one variable after another. With a pruner they choose only among values that some
// completion allows, and renormalise, so every world they return satisfies the knowledge. A pruner is asked about a
// partial assignment, in whatever order the model chooses its variables; values not chosen yet are kUnset.
#pragma once

#include <cstdint>
#include <span>

#include "anesi/core/space.h"

namespace anesi {

using Mask = std::span<bool>;  // one a value of the variable's domain; all false when a pruner is asked

// A fact, and an interface. Buys hard guarantees: every sampled or decoded value satisfies c. pruners/ has some that
// are made from an automaton, a formula or local constraints.
class Pruner {
 public:
  virtual ~Pruner() = default;

  // mask[v] = whether some world w has an output c(w) that agrees with `partial` and has value v at `variable`.
  // Called from several threads at once, as are all methods here.
  virtual void allow_outputs(Values partial, std::int64_t variable, Mask mask) const = 0;

  // mask[v] = whether some world w with c(w) = output agrees with `partial` and has value v at `variable`. Values of
  // `output` that are kUnset may be anything.
  virtual void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const = 0;

  // Whether masks are just that. Otherwise they may allow more, never less.
  virtual bool is_exact() const { return true; }
};

}  // namespace anesi

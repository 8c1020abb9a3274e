// Addition of two numbers digit by digit: the knowledge of Multi-digit MNISTAdd.
//
// A world is the 2N digits of two N-digit numbers, most significant first, the first number before the second. The
// output is the N+1 digits of their sum, most significant first; its leading digit is 0 or 1. The sum is never held in
// a machine integer, so N may be anything.
//
// What is known of it: a reading order, from the last digits to the first, where two digits are read and one of the sum
// is known, and the carry comes last; an automaton, which remembers the carry; a formula, with one variable for the
// carry out of each place but the first; and the automaton's pruner.
#pragma once

#include "anesi/core/problem.h"

namespace anesi {

class Addition final : public PointwiseProblem {
 public:
  explicit Addition(std::int64_t digits);

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override;

 private:
  std::size_t digits_;
  Space worlds_, outputs_;
};

}  // namespace anesi

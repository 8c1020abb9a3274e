// Addition of two numbers digit by digit: the knowledge of Multi-digit MNISTAdd.
//
// A world is the 2N digits of two N-digit numbers, most significant first, the first number before the second. The
// output is the N+1 digits of their sum, most significant first; its leading digit is 0 or 1. The sum is never held in
// a machine integer, so N may be anything.
#pragma once

#include "anesi/core/problem.h"

namespace anesi {

class Addition final : public Problem {
 public:
  explicit Addition(std::int64_t digits);

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values world, MutableValues output) const override;
  // From the last digits to the first: two digits are read, one of the sum is known; the carry comes last.
  ReadingOrder reading_order() const override;
  // What is remembered between two places is the carry.
  std::shared_ptr<const Automaton> automaton() const override;
  // With one variable for the carry out of each place but the first.
  std::optional<Cnf> cnf() const override;
  std::unique_ptr<Pruner> pruner() const override;

 private:
  std::size_t digits_;
  Space worlds_, outputs_;
};

}  // namespace anesi

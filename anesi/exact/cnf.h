// A function as a propositional formula in conjunctive normal form.
//
// The models of the formula, seen through the literals of worlds and outputs, are exactly the pairs (w, c(w)). It may
// use further variables of its own (carries, say), as long as each pair extends to exactly one model: then counting
// models counts worlds. Literals are as in the DIMACS format: 1, 2, 3, … and their negatives.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

// A fact: buys a pruner by SAT solving and exact inference by compilation.
class Cnf {
 public:
  // One literal for each value of each variable, exactly one of which is true. A variable of two values takes a single
  // propositional variable: value 1 is its positive, value 0 its negative literal.
  Cnf(const Space& worlds, const Space& outputs);

  int world(std::int64_t variable, std::int64_t value) const { return at(worlds_, variable, value); }
  int output(std::int64_t variable, std::int64_t value) const { return at(outputs_, variable, value); }
  // Whether it is over variables of these domains.
  bool fits(const Space& worlds, const Space& outputs) const {
    return shape_of(worlds_) == worlds.domains() && shape_of(outputs_) == outputs.domains();
  }
  int fresh_variable() { return ++variables_; }

  void add(std::vector<int> clause) { clauses_.push_back(std::move(clause)); }
  void exactly_one(const std::vector<int>& literals);

  int variables() const { return variables_; }
  const std::vector<std::vector<int>>& clauses() const { return clauses_; }

 private:
  using Literals = std::vector<std::vector<int>>;  // [variable][value]
  static int at(const Literals& literals, std::int64_t variable, std::int64_t value) {
    return literals[static_cast<std::size_t>(variable)][static_cast<std::size_t>(value)];
  }
  static std::vector<std::int64_t> shape_of(const Literals& literals);
  Literals add_space(const Space& space);

  int variables_ = 0;
  std::vector<std::vector<int>> clauses_;
  Literals worlds_, outputs_;
};

}  // namespace anesi

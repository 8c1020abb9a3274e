// A function as a propositional formula in conjunctive normal form.
//
// The models of the formula, seen through the literals of worlds and outputs, are exactly the pairs (w, c(w)). It may
// use further variables of its own (carries, say), as long as each pair extends to exactly one model: then counting
// models counts worlds. If a pair may extend to several, the formula says so (is_projected). Literals are as in the
// DIMACS format: 1, 2, 3, … and their negatives.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

// Which literals of a formula stand for the values of worlds and outputs. Exactly one of a variable's is true. A
// variable of two values may share one propositional variable between them: {-7, 7}.
struct Encoding {
  using Literals = std::vector<std::vector<int>>;  // [variable][value]
  Literals worlds = {};
  // None where the formula is a constraint: its models are the worlds whose one output is 1, all others have 0.
  Literals outputs = {};

  bool is_constraint() const { return outputs.empty(); }
  int world(std::int64_t variable, std::int64_t value) const { return at(worlds, variable, value); }
  int output(std::int64_t variable, std::int64_t value) const { return at(outputs, variable, value); }
  // Whether each of the formula's variables, 1 to `variables`, is of a world (entry 0 unused).
  std::vector<bool> of_worlds(int variables) const;
  // Whether it is over variables of these domains.
  bool fits(const Space& world_space, const Space& output_space) const;

 private:
  static int at(const Literals& literals, std::int64_t variable, std::int64_t value) {
    return literals[static_cast<std::size_t>(variable)][static_cast<std::size_t>(value)];
  }
};

// Of variables with a value for each literal.
Space space_of(const Encoding::Literals& literals);
// The values of these variables in a model, which is true or false by variable of the formula (entry 0 unused).
void read_values(const Encoding::Literals& literals, const std::vector<bool>& model, std::int64_t* values);

// A fact: buys a pruner by SAT solving and exact inference by compilation.
class Cnf {
 public:
  // One literal for each value of each variable, exactly one of which is true. A variable of two values takes a single
  // propositional variable: value 1 is its positive, value 0 its negative literal.
  Cnf(const Space& worlds, const Space& outputs);
  // A formula that is there, over variables 1 to `variables`.
  Cnf(Encoding encoding, int variables, std::vector<std::vector<int>> clauses)
      : variables_(variables), clauses_(std::move(clauses)), encoding_(std::move(encoding)) {}

  const Encoding& encoding() const { return encoding_; }
  int world(std::int64_t variable, std::int64_t value) const { return encoding_.world(variable, value); }
  int output(std::int64_t variable, std::int64_t value) const { return encoding_.output(variable, value); }
  int fresh_variable() { return ++variables_; }

  // Throws UsageError if a literal is 0 or of no variable so far.
  void add(std::vector<int> clause);
  void exactly_one(const std::vector<int>& literals);

  // A pair may extend to several models, and counts once all the same: compiling removes the further variables.
  void project() { is_projected_ = true; }
  bool is_projected() const { return is_projected_; }
  // Variables that stand for no value of worlds or outputs.
  std::vector<int> further_variables() const;

  int variables() const { return variables_; }
  const std::vector<std::vector<int>>& clauses() const { return clauses_; }

 private:
  Encoding::Literals add_space(const Space& space);

  int variables_ = 0;
  std::vector<std::vector<int>> clauses_;
  Encoding encoding_;
  bool is_projected_ = false;
};

}  // namespace anesi

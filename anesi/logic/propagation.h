// What follows from decisions by unit clauses, and clauses learned from conflicts.
//
// For searches that go through all cases, one decision after another: whoever decides takes the last decision back
// before trying its opposite, and never jumps. Clauses that are learned follow from the formula, so what they imply
// holds wherever the formula does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anesi {

class Propagation {
 public:
  // Clauses over variables 1 to `variables`; a literal may be there twice. Throws Error where a literal is of none.
  Propagation(int variables, const std::vector<std::vector<int>>& clauses);

  // False if unit clauses alone contradict each other.
  bool consistent() const { return consistent_; }
  // Of the formula: neither clauses that always hold nor those of one literal; each literal once, by variable.
  int clauses() const { return clauses_of_formula_; }
  std::span<const int> clause(int index) const {
    const auto& [begin, size] = clauses_[static_cast<std::size_t>(index)];
    return std::span(literals_).subspan(begin, size);
  }

  bool is_true(int literal) const { return values_[place(literal)] > 0; }
  bool is_false(int literal) const { return values_[place(literal)] < 0; }
  bool is_open(int variable) const { return values_[place(variable)] == 0; }
  // How often a variable took part in conflicts, recent ones more.
  double activity(int variable) const { return activity_[static_cast<std::size_t>(variable)]; }

  // Decides an open literal. False if that contradicts the clauses; then the decision has to be taken back as well.
  bool decide(int literal);
  void take_back();

 private:
  static constexpr int kNone = -1;
  struct Clause {
    std::size_t begin, size;
  };
  struct Watch {
    int clause, other;  // a literal of the clause: if it is true, nothing needs to be done
  };

  static std::size_t place(int literal) {
    return static_cast<std::size_t>(literal > 0 ? 2 * literal : -2 * literal + 1);
  }
  std::span<int> literals_of(int index) {
    const auto& [begin, size] = clauses_[static_cast<std::size_t>(index)];
    return std::span(literals_).subspan(begin, size);
  }
  int add(std::span<const int> literals);
  void watch(int index);
  void assign(int literal, int reason);
  int propagate();  // the clause that is violated, or kNone
  int assign_what_is_learned();
  void learn(int conflict);
  void take_part(int variable);
  bool is_redundant(int literal) const;
  void forget_some();

  std::vector<int> literals_;  // of all clauses
  std::vector<Clause> clauses_;
  std::vector<std::vector<Watch>> watches_;  // [literal that became false]
  std::vector<std::int8_t> values_;          // [literal]: 1 true, -1 false, 0 open
  std::vector<int> reason_, level_;          // [variable]
  std::vector<double> activity_;
  std::vector<char> seen_;
  std::vector<int> trail_, learned_, seen_variables_;
  std::vector<std::size_t> levels_;  // where they begin in the trail
  std::vector<int> units_;           // clauses of one literal that were learned
  std::size_t next_ = 0;             // of the trail to be propagated
  int clauses_of_formula_ = 0, pending_ = kNone;
  std::size_t literals_of_formula_ = 0, most_learned_ = 0;
  double bump_ = 1;
  bool consistent_ = true;
};

}  // namespace anesi

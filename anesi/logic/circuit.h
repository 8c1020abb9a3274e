// A formula that was compiled: what is hard about counting its models is done.
//
// A circuit is a formula built of literals, products whose parts share no variable and sums of which at most one part
// is true, all of them over the same variables (decomposable, deterministic, smooth). On such a formula counting
// weighted models, their gradient, their entropy, the best model and samples take one pass each (Darwiche 2011).
// Compiling is where the hardness went (decision_compiler.h), and it may take for ever. Others write circuits too
// (circuit_files.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace anesi {

class Circuit {
 public:
  // Compiles a formula over variables 1 to `variables`. Throws Error if that takes longer than `seconds` of this
  // thread's time, or if the circuit becomes too large.
  static Circuit compile(int variables, const std::vector<std::vector<int>>& clauses, double seconds = 60);
  // Compiles what the formula says of the variables that are not hidden: their assignments that extend to a model, each
  // once. Hidden variables are false in the circuit. Throws Error as above.
  static Circuit compile_projected(int variables, const std::vector<std::vector<int>>& clauses,
                                   const std::vector<int>& hidden, double seconds = 60);

  // What satisfies these clauses and not this circuit, whatever value the hidden variables have in it. Throws Error as
  // above.
  Circuit complement(const std::vector<int>& hidden, const std::vector<std::vector<int>>& clauses,
                     double seconds = 60) const;

  int variables() const { return variables_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
  bool satisfiable() const { return !nodes_.empty(); }
  double models() const;  // exact below 2^53, infinite above 10^308

  // Something for each literal: [literal + variables], from -variables to variables; the entry at 0 is unused.
  template <typename Value>
  using OfLiterals = std::vector<Value>;
  using Weights = OfLiterals<double>;  // logarithms
  // Where a literal's entry is.
  std::size_t place_of(int literal) const { return static_cast<std::size_t>(std::int64_t{literal} + variables_); }
  std::size_t places() const { return 2 * static_cast<std::size_t>(variables_) + 1; }

  // The logarithm of nothing.
  static constexpr double kNoModel = -std::numeric_limits<double>::infinity();
  // Counts below this are taken again as logarithms: what underflowed on the way might matter beside them. Above it it
  // cannot, since the weights of each variable's two literals are first made to sum to one: what underflowed is then at
  // most a part in 10^58 for each node.
  static constexpr double kSmallestCount = 1e-250;

  // log of the sum over models of the product of their literals' weights.
  double log_count(const Weights& weights) const;
  // The same, and its derivative by the logarithm of each literal's weight: that literal's posterior probability.
  double log_count(const Weights& weights, Weights& derivative) const;
  // The entropy, in nats, of models drawn in proportion to their weights, and its derivative by the logarithm of each
  // literal's weight. Zero where there is no model.
  double entropy(const Weights& weights, Weights& derivative) const;
  // The model of largest weight as true or false by variable (entry 0 unused), and the logarithm of that weight.
  double best_model(const Weights& weights, std::vector<bool>& model) const;
  // A model in proportion to its weight; `uniform` draws from [0, 1). Throws Error where there is none.
  void sample_model(const Weights& weights, std::vector<bool>& model, const std::function<double()>& uniform) const;
  // Leaves of the literals that may be true those which are in some model of such literals alone. False where there is
  // no such model.
  bool restrict_to_models(OfLiterals<char>& may_be_true) const;

  // What it is built of: parts before wholes, the last is the formula. Nothing where it has no model.
  enum class Kind : std::int8_t { kLiteral, kProduct, kSum };
  Kind kind(std::int64_t node) const { return nodes_[static_cast<std::size_t>(node)].kind; }
  int literal(std::int64_t node) const { return nodes_[static_cast<std::size_t>(node)].literal; }
  std::span<const std::int32_t> parts(std::int64_t node) const {
    return parts_of(nodes_[static_cast<std::size_t>(node)]);
  }

 private:
  friend class CircuitBuilder;
  struct Node {
    Kind kind;
    int literal;              // of a literal
    std::int32_t begin, end;  // of its parts in parts_
  };
  std::span<const std::int32_t> parts_of(const Node& node) const {
    return std::span(parts_).subspan(static_cast<std::size_t>(node.begin),
                                     static_cast<std::size_t>(node.end - node.begin));
  }

  // Of every node, the sum over its models of the product of their literals' weights, divided by what that product sums
  // to over all values of its variables; undivided logarithms where that would underflow. Returns the logarithm of the
  // formula's own, undivided.
  struct Counts {
    std::vector<double> values;
    bool logarithms = false;
    // The share that a part has in a sum.
    double share(std::size_t part, std::size_t sum) const;
  };
  double count(const Weights& weights, Counts& counts) const;
  template <typename Choose>
  void descend(std::vector<bool>& model, Choose choose) const;

  int variables_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> parts_;
};

}  // namespace anesi

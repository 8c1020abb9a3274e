// Exact inference on a formula that was compiled: weighted model counting on a circuit.
//
// A circuit is a formula built of literals, products whose parts share no variable and sums of which at most one part
// is true, all of them over the same variables (decomposable, deterministic, smooth). On such a formula counting
// weighted models, their gradient, the best model and samples take one pass each (Darwiche 2011). Compiling is where
// the hardness went: libsdd does it, and it may take for ever.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <vector>

#include "anesi/core/exact_inference.h"
#include "anesi/core/problem.h"
#include "anesi/exact/cnf.h"

namespace anesi {

class Circuit {
 public:
  // Compiles a formula over variables 1 to `variables`. Throws Error where that takes longer than `seconds`, or where
  // anesi was built without libsdd.
  static Circuit compile(int variables, const std::vector<std::vector<int>>& clauses, double seconds = 60);

  int variables() const { return variables_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
  bool satisfiable() const { return !nodes_.empty(); }
  double models() const;  // exact below 2^53

  // Logarithms of the literals' weights: [literal + variables], from -variables to variables; the entry at 0 is unused.
  using Weights = std::vector<double>;

  // log of the sum over models of the product of their literals' weights.
  double log_count(const Weights& weights) const;
  // The same, and its derivative by the logarithm of each literal's weight: that literal's posterior probability.
  double log_count(const Weights& weights, Weights& derivative) const;
  // The model of largest weight as true or false by variable (entry 0 unused), and the logarithm of that weight.
  double best_model(const Weights& weights, std::vector<bool>& model) const;
  // A model in proportion to its weight; `uniform` draws from [0, 1).
  void sample_model(const Weights& weights, std::vector<bool>& model, const std::function<double()>& uniform) const;

 private:
  friend class CircuitBuilder;
  enum class Kind : std::int8_t { kLiteral, kProduct, kSum };
  struct Node {
    Kind kind;
    int literal;              // of a literal
    std::int32_t begin, end;  // of its parts in parts_
  };

  double weigh(const Weights& weights, std::vector<double>& values, bool best) const;
  template <typename Choose>
  void descend(std::vector<bool>& model, Choose choose) const;

  int variables_ = 0;
  std::vector<Node> nodes_;  // parts before wholes; the last is the formula. Empty where it has no model
  std::vector<std::int32_t> parts_;
};

// Throws Error where the problem gives no formula or it does not compile within `seconds`.
std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds = 60);

// A circuit for each output that is asked about, compiled when it first is: where the formula of the whole function is
// too large but that of the worlds behind one output is not, as in sudoku. Throws Error as above, then.
std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds = 60);

}  // namespace anesi

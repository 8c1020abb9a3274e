// Exact inference where some clauses need not hold (Markov logic):
//
//   p(w|P) = prod_i P_i(w_i) exp(sum of the weights of the soft clauses that hold) / Z(P)
//
// over the worlds that keep the hard clauses. The circuit is of the hard clauses and of a variable for each soft one
// that is true exactly where the clause holds; the weight stands on that variable. Constant; several threads may ask at
// once.
//
// In all methods beliefs are logarithms (LogBeliefs) or probabilities, [rows, worlds, domain], and weights [clauses] or
// [rows, clauses].
#pragma once

#include <vector>

#include "anesi/logic/circuit.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/wcnf.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

class SoftCircuit {
 public:
  // Throws Error where that does not compile within `seconds`.
  SoftCircuit(const Cnf& hard, const std::vector<SoftClause>& soft, double seconds = 60);

  std::int64_t nodes() const { return circuit_.nodes(); }
  std::int64_t clauses() const { return static_cast<std::int64_t>(soft_.size()); }

  // log Z(P), double [rows]; -inf where no world is possible. Differentiable in the beliefs and in the weights.
  torch::Tensor log_partition(const LogBeliefs& beliefs, const torch::Tensor& weights) const;
  torch::Tensor log_partition(const torch::Tensor& beliefs, const torch::Tensor& weights) const;
  // How likely each soft clause holds, double [rows, clauses]: the derivative of log Z by the weights.
  torch::Tensor expected(const LogBeliefs& beliefs, const torch::Tensor& weights) const;
  torch::Tensor expected(const torch::Tensor& beliefs, const torch::Tensor& weights) const;
  // Of which clauses hold, double [rows, clauses, clauses]: the second derivative. A pass for each clause and row.
  torch::Tensor covariance(const torch::Tensor& beliefs, const torch::Tensor& weights) const;
  // p(w_i = v), double [rows, worlds, domain].
  torch::Tensor marginals(const LogBeliefs& beliefs, const torch::Tensor& weights) const;
  torch::Tensor marginals(const torch::Tensor& beliefs, const torch::Tensor& weights) const;
  // The most probable world and log p(w|P).
  MostProbable most_probable(const LogBeliefs& beliefs, const torch::Tensor& weights) const;
  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& weights) const;
  // A world of each row, int64 [rows, worlds]. Throws Error where none is possible.
  torch::Tensor sample(const LogBeliefs& beliefs, const torch::Tensor& weights, at::Generator generator) const;
  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& weights, at::Generator generator) const;

 private:
  class LogPartition;
  // Logarithms of beliefs, and weights, as the circuit takes them: in 64 bits and of as many rows.
  struct Asked {
    torch::Tensor logs, weights;
  };
  Asked asked(const LogBeliefs& beliefs, const torch::Tensor& weights) const;
  // Calls visit(row, log weights of all literals), from several threads at once.
  template <typename Visit>
  void for_each_row(const Asked& asked, Visit visit) const;
  template <typename Visit>
  void for_each_value(Visit visit) const;  // visit(variable, value, place of its literal)
  // log Z of each row, and its derivatives where the tensors are defined.
  torch::Tensor measure(const Asked& asked, torch::Tensor by_beliefs, torch::Tensor by_weights) const;

  Encoding encoding_;
  std::vector<int> soft_;  // the variable of each soft clause
  Circuit circuit_;
};

}  // namespace anesi

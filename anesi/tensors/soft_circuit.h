// Markov logic by a circuit (logic/soft_circuit.h), of tensors.
//
// In all methods beliefs are logarithms (LogBeliefs) or probabilities, [rows, worlds, domain], and weights [clauses] or
// [rows, clauses].
#pragma once

#include <vector>

#include "anesi/logic/soft_circuit.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

class SoftCircuitOfTensors {
 public:
  // Throws Error where that does not compile within `seconds`.
  SoftCircuitOfTensors(const Cnf& hard, const std::vector<SoftClause>& soft, double seconds = 60)
      : circuit_(hard, soft, seconds) {}

  std::int64_t nodes() const { return circuit_.nodes(); }
  std::int64_t clauses() const { return circuit_.clauses(); }

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
  SoftCircuit circuit_;
};

}  // namespace anesi

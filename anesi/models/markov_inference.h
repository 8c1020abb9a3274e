// Markov logic (formula/markov_logic.h) asked with tensors: exactly by its circuit, or by a graph network.
//
// If the formula compiles the circuit knows Z(P), with its derivatives. Else a graph network estimates it, for weights
// and beliefs alike, and its draws under the pruner count it (predict/soft_count.h).
#pragma once

#include <memory>
#include <optional>

#include "anesi/formula/markov_logic.h"
#include "anesi/models/graph.h"
#include "anesi/tensors/soft_circuit.h"

namespace anesi {

class MarkovInference : public MarkovLogic {
 public:
  // Compiling is given up after `seconds`. Throws what MarkovLogic throws.
  explicit MarkovInference(Wcnf formula, double seconds = 60);

  torch::Tensor weights() const;  // as the file gives them, double [clauses]
  // Null if it did not compile.
  const SoftCircuitOfTensors* circuit() const { return circuit_ ? &*circuit_ : nullptr; }
  // Throws Error if it did not compile.
  const SoftCircuitOfTensors& exact() const;

  // As MarkovLogic's, double [rows, clauses].
  using MarkovLogic::holds;
  torch::Tensor holds(const torch::Tensor& worlds) const;
  // bool [rows]: whether worlds keep the hard clauses.
  torch::Tensor keeps(const torch::Tensor& worlds) const;

  // What the network passes messages along, and q(y|P) or q(w|y,P) with these weights, [clauses]. Where y=1, q(y|P) is
  // an estimate of Z(P) / exp(log_scale), which is at most 1.
  const std::shared_ptr<const MessagePaths>& paths() const { return paths_; }
  Graph q(const std::shared_ptr<GraphNetwork>& network, bool explains, const torch::Tensor& weights) const;
  static torch::Tensor log_scale(const torch::Tensor& weights) { return weights.clamp_min(0).sum(-1); }

 private:
  std::optional<SoftCircuitOfTensors> circuit_;
  std::shared_ptr<const MessagePaths> paths_;
};

}  // namespace anesi

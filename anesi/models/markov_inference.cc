#include "anesi/models/markov_inference.h"

#include "anesi/core/error.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {

MarkovInference::MarkovInference(Wcnf formula, double seconds)
    : MarkovLogic(std::move(formula), seconds), paths_(std::make_shared<const MessagePaths>(graph())) {
  if (seconds <= 0) return;
  try {
    circuit_.emplace(*hard().facts().find<Cnf>(), this->formula().soft, seconds);
  } catch (const Error&) {
    // It does not compile in time; there is q.
  }
}

torch::Tensor MarkovInference::weights() const {
  std::vector<double> weights;
  for (const auto& clause : formula().soft) weights.push_back(clause.weight);
  return torch::tensor(weights, torch::kFloat64);
}

const SoftCircuitOfTensors& MarkovInference::exact() const {
  if (!circuit_) throw Error("markov logic: the formula did not compile, so nothing of it is known exactly");
  return *circuit_;
}

torch::Tensor MarkovInference::holds(const torch::Tensor& worlds) const {
  return tensor_of(holds(rows_of(worlds.to(torch::kCPU, torch::kInt64).contiguous())).rows());
}

torch::Tensor MarkovInference::keeps(const torch::Tensor& worlds) const {
  return apply(hard(), worlds.to(torch::kCPU, torch::kInt64).contiguous()).select(1, 0) == 1;
}

Graph MarkovInference::q(const std::shared_ptr<GraphNetwork>& network, bool explains,
                         const torch::Tensor& weights) const {
  return Graph(paths_, network, explains, weights);
}

}  // namespace anesi

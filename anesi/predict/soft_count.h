// log Z(P) of weighted formulas by importance sampling: worlds that q draws under the pruner of the hard clauses.
#pragma once

#include "anesi/models/markov_inference.h"
#include "anesi/predict/count.h"

namespace anesi {

// A network for soft clauses that adds nothing to belief propagation yet.
// By default it asks more cases than a network of hard clauses does: belief propagation alone is off by tenths of a nat
// where clauses are soft and go in circles.
inline constexpr std::int64_t kCasesOfSoftClauses = 32;
std::shared_ptr<GraphNetwork> soft_network(const GraphOptions& options = {.cases = kCasesOfSoftClauses});

// What q says of log Z(P) by itself, [rows], of the type of the beliefs [rows, worlds, domain]; differentiable in them
// and in the weights, [clauses].
torch::Tensor predicted_log_partition(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                                      const torch::Tensor& beliefs, const torch::Tensor& weights);

// Worlds for each row of the beliefs; the hard clauses hold in all of them.
DrawnWorlds draw_soft_worlds(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                             const torch::Tensor& beliefs, const torch::Tensor& weights, std::int64_t samples,
                             at::Generator generator);

// log_prob, low and high of the result are those of log Z(P), which may be above 0.
CountEstimate estimate_log_partition(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                                     const torch::Tensor& beliefs, const torch::Tensor& weights, std::int64_t samples,
                                     at::Generator generator);

}  // namespace anesi

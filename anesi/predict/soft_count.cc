#include "anesi/predict/soft_count.h"

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {

std::shared_ptr<GraphNetwork> soft_network(const GraphOptions& options) {
  return std::make_shared<GraphNetwork>(options, GraphNetwork::Clauses::kSoftToo);
}

torch::Tensor predicted_log_partition(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                                      const torch::Tensor& beliefs, const torch::Tensor& weights) {
  auto q = logic.q(network, /*explains=*/false, weights);
  const auto learned = network->parameters();
  const auto in_its_type = learned.empty() ? beliefs : beliefs.to(learned[0].scalar_type());
  return q.log_count(in_its_type).to(beliefs.scalar_type()) + MarkovInference::log_scale(weights).to(beliefs.options());
}

DrawnWorlds draw_soft_worlds(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                             const torch::Tensor& beliefs, const torch::Tensor& weights, std::int64_t samples,
                             at::Generator generator) {
  const torch::NoGradGuard no_gradients;
  auto q = logic.q(network, /*explains=*/true, weights);
  const auto pruner = logic.hard().facts().share<Pruner>();
  if (!pruner) throw Error("markov logic: sampling needs CaDiCaL or a formula that compiles");
  const SymbolicPruning pruning(pruner, DeadEnds::kOfferNothing);
  const Context context(beliefs.detach().to(torch::kFloat32), torch::ones({beliefs.size(0), 1}, torch::kInt64));
  return draw_worlds(q, context, samples, std::move(generator), &pruning);
}

CountEstimate estimate_log_partition(const MarkovInference& logic, const std::shared_ptr<GraphNetwork>& network,
                                     const torch::Tensor& beliefs, const torch::Tensor& weights, std::int64_t samples,
                                     at::Generator generator) {
  const torch::NoGradGuard no_gradients;
  const auto drawn = draw_soft_worlds(logic, network, beliefs, weights, samples, std::move(generator));
  const auto exact_weights = weights.to(torch::kFloat64);
  const auto scale = MarkovInference::log_scale(exact_weights);
  const auto log_p = world_log_prob(beliefs.to(torch::kFloat64).index_select(0, drawn.row), drawn.worlds);
  auto estimate = estimate_log_sum(drawn, log_p + logic.holds(drawn.worlds).mv(exact_weights) - scale);
  for (auto* const log : {&estimate.log_mean, &estimate.log_prob, &estimate.low, &estimate.high}) *log = *log + scale;
  return estimate;
}

}  // namespace anesi

// How likely observations are, counted on worlds that q draws instead of read from q.
//
// What q gets wrong reaches perception with its gradient. Worlds drawn from q(w|y,P) can be weighed: log p(y|P) by
// importance sampling (predict/count.h) has the right gradient in the limit of many draws, whatever q is, and none of
// it goes through q.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/losses/observed_log_prob.h"

namespace anesi {

// As observed_log_prob, with `samples` worlds drawn for each row. A world that was observed as a whole counts as one
// more draw, from a source that draws nothing else; weights are by the mixture of both (the balance heuristic), so that
// the estimate of p(y|P) stays unbiased and the world that perception should believe in is never missed. Where no draw
// gives the output, q says how likely it is. Needs an explanation model.
torch::Tensor counted_log_prob(const InferenceModel& model, const Problem& problem, const torch::Tensor& beliefs,
                               const Observations& observations, std::int64_t samples, const at::Generator& generator,
                               const Pruning* pruning = nullptr);

}  // namespace anesi

#include "anesi/losses/observed_log_prob.h"

#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/space.h"

namespace anesi {
namespace {

// log q(w|y,P) of worlds that are known altogether, [batch].
torch::Tensor whole_world_log_prob(const InferenceModel& model, const torch::Tensor& beliefs, const Observations& seen,
                                   const Pruning* pruning) {
  if (model.explanation) return log_prob(*model.explanation, {beliefs, seen.outputs, seen.given}, seen.worlds, pruning);
  const auto of_world = model.prediction->log_prob({clamped(beliefs, seen.worlds), {}, seen.given}, seen.outputs);
  const auto of_belief = model.prediction->log_prob({beliefs, {}, seen.given}, seen.outputs);
  return finite_known_log_prob(beliefs, seen.worlds) + of_world - of_belief;
}

}  // namespace

torch::Tensor finite_known_log_prob(const torch::Tensor& beliefs, const torch::Tensor& known) {
  return known_log_prob(beliefs.clamp_min(std::numeric_limits<float>::min()), known);
}

torch::Tensor observed_log_prob(const InferenceModel& model, const torch::Tensor& beliefs,
                                const Observations& observations, const Pruning* pruning, bool prunes_prediction) {
  return observed_log_prob(
      beliefs, observations,
      [&](const torch::Tensor& believed, const Observations& seen) {
        return seen.log_prob(log_prob(*model.prediction, {believed, {}, seen.given}, seen.outputs,
                                      prunes_prediction ? pruning : nullptr));
      },
      [&](const torch::Tensor& believed, const Observations& seen) {
        return whole_world_log_prob(model, believed, seen, pruning);
      });
}

torch::Tensor observed_log_prob(const torch::Tensor& beliefs, const Observations& observations,
                                const LogProb& of_outputs, const LogProb& of_whole_worlds) {
  if (!observations.worlds.defined()) return of_outputs(beliefs, observations);
  if (!observations.outputs.defined()) return finite_known_log_prob(beliefs, observations.worlds);

  auto whole = (observations.worlds != kUnset).all(1);
  if (observations.holds.defined()) whole = whole.logical_and(observations.holds);
  std::vector<torch::Tensor> rows, parts;
  if (const auto some = whole.nonzero().squeeze(1); some.size(0) > 0) {
    rows.push_back(some);
    parts.push_back(of_whole_worlds(beliefs.index_select(0, some), observations.rows(some)));
  }
  if (const auto some = whole.logical_not().nonzero().squeeze(1); some.size(0) > 0) {
    const auto seen = observations.rows(some);
    const auto believed = beliefs.index_select(0, some);
    rows.push_back(some);
    parts.push_back(finite_known_log_prob(believed, seen.worlds) + of_outputs(clamped(believed, seen.worlds), seen));
  }
  return torch::cat(parts).index_select(0, torch::cat(rows).argsort());
}

}  // namespace anesi

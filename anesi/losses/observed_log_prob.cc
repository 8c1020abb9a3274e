#include "anesi/losses/observed_log_prob.h"

#include <limits>

#include "anesi/core/space.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// log q(w|y,P) of worlds that are known altogether, [batch].
torch::Tensor whole_world_log_prob(const InferenceModel& model, const torch::Tensor& beliefs, const Observations& seen,
                                   const Pruning* pruning) {
  if (model.explanation) return log_prob(*model.explanation, {beliefs, seen.outputs}, seen.worlds, pruning);
  const auto of_world = model.prediction->log_prob(clamped(beliefs, seen.worlds), seen.outputs);
  const auto of_belief = model.prediction->log_prob(beliefs, seen.outputs);
  return known_log_prob(beliefs, seen.worlds) + of_world - of_belief;
}

// Calls each of two functions with the rows that are its own, and puts the results in order: of_whole with those whose
// world is known altogether and whose output holds, of_others with the rest.
template <typename OfWhole, typename OfOthers>
torch::Tensor by_rows(const Observations& observations, OfWhole of_whole, OfOthers of_others) {
  auto whole = (observations.worlds != kUnset).all(1);
  if (observations.holds.defined()) whole = whole.logical_and(observations.holds);
  std::vector<torch::Tensor> rows, parts;
  if (const auto some = whole.nonzero().squeeze(1); some.size(0) > 0) {
    rows.push_back(some);
    parts.push_back(of_whole(some));
  }
  if (const auto some = whole.logical_not().nonzero().squeeze(1); some.size(0) > 0) {
    rows.push_back(some);
    parts.push_back(of_others(some));
  }
  return torch::cat(parts).index_select(0, torch::cat(rows).argsort());
}

}  // namespace

LogBeliefs finite_logs(const torch::Tensor& beliefs) {
  return LogBeliefs(beliefs.clamp_min(std::numeric_limits<float>::min()).to(torch::kFloat64).log());
}

torch::Tensor observed_log_prob(const InferenceModel& model, const torch::Tensor& beliefs,
                                const Observations& observations, const Pruning* pruning, bool prunes_prediction,
                                const LogBeliefs* logs) {
  if (model.exact) {
    if (logs != nullptr) return model.exact->label_log_prob(*logs, observations);
    return through_logs(beliefs, model.exact->worlds(), [&](const LogBeliefs& of_beliefs) {
      return model.exact->label_log_prob(of_beliefs, observations);
    });
  }
  return observed_log_prob(
      beliefs, logs != nullptr ? *logs : LogBeliefs::differentiable(beliefs), observations,
      [&](const torch::Tensor& believed, const Observations& seen) {
        return seen.log_prob(
            log_prob(*model.prediction, believed, seen.outputs, prunes_prediction ? pruning : nullptr));
      },
      [&](const torch::Tensor& believed, const Observations& seen) {
        return whole_world_log_prob(model, believed, seen, pruning);
      });
}

torch::Tensor observed_log_prob(const torch::Tensor& beliefs, const LogBeliefs& logs, const Observations& observations,
                                const LogProb& of_outputs, const LogProb& of_whole_worlds) {
  if (!observations.worlds.defined()) return of_outputs(beliefs, observations);
  const auto known = [&](const LogBeliefs& believed, const torch::Tensor& worlds) {
    return believed.known_log_prob(worlds).to(beliefs.scalar_type());
  };
  if (!observations.outputs.defined()) return known(logs, observations.worlds);
  return by_rows(
      observations,
      [&](const torch::Tensor& rows) {
        return of_whole_worlds(beliefs.index_select(0, rows), observations.rows(rows));
      },
      [&](const torch::Tensor& rows) {
        const auto seen = observations.rows(rows);
        const auto believed = clamped(beliefs.index_select(0, rows), seen.worlds);
        return known(logs.rows(rows), seen.worlds) + of_outputs(believed, seen);
      });
}

}  // namespace anesi

#include "anesi/losses/rloo.h"

#include "anesi/core/score.h"
#include "anesi/losses/estimated.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"

namespace anesi {

torch::Tensor RlooLoss::loss(const torch::Tensor& beliefs, const Observations& observations) {
  require_outputs_as_goals(observations, "rloo");
  const auto samples = options_.samples;
  const auto repeated = [&](const torch::Tensor& rows) { return rows.repeat_interleave(samples, 0); };
  const auto many = repeated(beliefs);
  const auto worlds = sample_worlds(many.detach(), generator_);
  const auto outputs = apply(*problem_, worlds);
  const auto distances = distance(*problem_, worlds, outputs, repeated(observations.outputs)).view({-1, samples});
  const auto others = (distances.sum(1, /*keepdim=*/true) - distances) / static_cast<double>(samples - 1);
  const auto surrogate = ((distances - others) * world_log_prob(many, worlds).view({-1, samples})).mean();
  return surrogate + (distances.mean() - surrogate.detach());
}

std::optional<double> TwoLosses::learn(const torch::Tensor& beliefs, const Rate& rate) {
  const auto first = first_->learn(beliefs, rate), second = second_->learn(beliefs, rate);
  return first ? first : second;
}

NamedTensors TwoLosses::state() const {
  NamedTensors state;
  add_with_prefix(state, "first.", first_->state());
  add_with_prefix(state, "second.", second_->state());
  return state;
}

void TwoLosses::load_state(const NamedTensors& state) {
  first_->load_state(with_prefix(state, "first."));
  second_->load_state(with_prefix(state, "second."));
}

}  // namespace anesi

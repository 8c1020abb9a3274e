#include "anesi/losses/rloo.h"

#include <cmath>
#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"

namespace anesi {

double RlooLoss::learn(const torch::Tensor&) { return std::numeric_limits<double>::quiet_NaN(); }

torch::Tensor RlooLoss::loss(const torch::Tensor& beliefs, const Observations& observations) {
  if (observations.holds.defined()) {
    throw UsageError("loss=rloo: labels that only say what an output is not are no goal; set train.negatives=false");
  }
  const auto samples = options_.samples;
  const auto repeated = [&](const torch::Tensor& rows) { return rows.repeat_interleave(samples, 0); };
  const auto many = repeated(beliefs);
  const auto worlds = sample_worlds(many.detach(), generator_);
  const auto outputs = observations.queries.defined() ? problem_.answer(worlds, repeated(observations.queries))
                                                      : problem_.apply_batch(worlds);
  const auto distances = problem_.distance(outputs, repeated(observations.outputs)).view({-1, samples});
  const auto others = (distances.sum(1, /*keepdim=*/true) - distances) / static_cast<double>(samples - 1);
  const auto surrogate = ((distances - others) * world_log_prob(many, worlds).view({-1, samples})).mean();
  return surrogate + (distances.mean() - surrogate.detach());
}

double SumOfLosses::learn(const torch::Tensor& beliefs) {
  const auto first = first_->learn(beliefs), second = second_->learn(beliefs);
  return std::isnan(first) ? second : first;
}

NamedTensors SumOfLosses::state() const {
  NamedTensors state;
  add_with_prefix(state, "first.", first_->state());
  add_with_prefix(state, "second.", second_->state());
  return state;
}

void SumOfLosses::load_state(const NamedTensors& state) {
  first_->load_state(with_prefix(state, "first."));
  second_->load_state(with_prefix(state, "second."));
}

}  // namespace anesi

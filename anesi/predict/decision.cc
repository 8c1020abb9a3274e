#include "anesi/predict/decision.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"

namespace anesi {

torch::Tensor Decision::scores(const Problem& problem, SequenceModel& prediction, const torch::Tensor& beliefs,
                               const torch::Tensor& outputs) const {
  const torch::NoGradGuard no_gradients;
  // An output of no probability at all scores as badly as one of very little, so that a threshold can be fitted.
  constexpr double kLowest = -1e4;
  if (by == ScoredBy::kLikelihood) {
    return prediction.log_prob(beliefs, outputs).to(torch::kFloat64).clamp_min(kLowest);
  }
  return -most_probable_worlds(problem, beliefs, outputs, limits).gap.clamp_max(limits.nats);
}

void Decision::fit(const torch::Tensor& scores, const torch::Tensor& holds) {
  const auto yes = holds.to(torch::kFloat64);
  if (yes.numel() == 0 || yes.min().item<double>() == yes.max().item<double>()) {
    throw Error("decision: the held-out labels all say the same, so no threshold can be fitted");
  }
  // Newton's method on standardised scores.
  constexpr double kPenalty = 0.1;
  const auto mean = scores.mean().item<double>(), spread = std::max(scores.std().item<double>(), 1e-9);
  const auto z = (scores - mean) / spread;
  double weight = 0, bias = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const auto share = (z * weight + bias).sigmoid(), rest = yes - share, certainty = share * (1 - share);
    const auto slope_up = (rest * z).sum().item<double>() - kPenalty * weight, bias_up = rest.sum().item<double>();
    const auto zz = (certainty * z * z).sum().item<double>() + kPenalty, zb = (certainty * z).sum().item<double>(),
               bb = certainty.sum().item<double>() + 1e-9;
    const auto determinant = zz * bb - zb * zb;
    const auto step_weight = std::clamp((bb * slope_up - zb * bias_up) / determinant, -3.0, 3.0);
    const auto step_bias = std::clamp((zz * bias_up - zb * slope_up) / determinant, -3.0, 3.0);
    weight += step_weight;
    bias += step_bias;
    if (std::abs(step_weight) + std::abs(step_bias) < 1e-10) break;
  }
  if (!std::isfinite(weight) || !std::isfinite(bias)) {
    throw Error("decision: no threshold can be fitted, for scores are not finite numbers");
  }
  slope = weight / spread;
  offset = bias - weight * mean / spread;
}

void Decision::fit(const Problem& problem, SequenceModel& prediction, Perception& perception, const Examples& data) {
  if (!data.labels().holds.defined()) {
    throw UsageError("decision: the labels of this task say what the output is, not whether it holds");
  }
  const torch::NoGradGuard no_gradients;
  perception.eval();
  std::vector<torch::Tensor> all;
  constexpr std::int64_t kAtOnce = 50;
  for (std::int64_t begin = 0; begin < data.size(); begin += kAtOnce) {
    const auto batch = data.batch(begin, std::min(begin + kAtOnce, data.size()));
    const auto& seen = batch.observations;
    all.push_back(scores(problem, prediction, perception.forward(batch.inputs), seen.outputs));
  }
  fit(torch::cat(all), data.labels().holds);
}

}  // namespace anesi

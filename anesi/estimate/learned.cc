#include "anesi/estimate/learned.h"

#include <cmath>

#include "anesi/core/error.h"

namespace anesi {

void LearnedOptions::describe(OptionTable& table) {
  table.add("calls", calls, {1, 1000000}, "of g, each time q learns");
  table.add("first", first, {0, 10000000}, "calls of g more, the first time");
  table.add(
      "model", model,
      "q(r|P): a regression that is multilinear in P, or a network that gives a normal, a mixture or a histogram");
  prior.describe(table);
  table.add_group("kernel", kernel);
  table.add_group("network", network);
}

LearnedEstimator::LearnedEstimator(const EstimatorParts& parts, const LearnedOptions& options)
    : Estimator(parts), calls_(options.calls), first_(options.first), prior_(parts.sources, options.prior) {
  model_ = options.model == OutcomeModelKind::kKernel
               ? make_kernel_model(sources(), options.kernel)
               : make_network_model(sources(), outcomes_count(), options.model, options.network, generator());
}

torch::Tensor LearnedEstimator::estimate(const Parameters& parameters) {
  if (!has_learned_) learn_at(parameters.detached());
  return model_->mean(parameters);
}

std::optional<double> LearnedEstimator::learn_at(const Parameters& parameters) {
  if (parameters.batch() == 0) return std::nullopt;
  const auto drawn_from = prior_.sample(parameters, calls_ + (has_learned_ ? 0 : first_), generator());
  const auto draws = draw(drawn_from, 1, generator());
  const auto outcomes = outcomes_of(draws).detach();  // where this fails, q is as it was
  has_learned_ = true;
  prior_.observe(parameters);
  return model_->learn(drawn_from, draws, outcomes);
}

NamedTensors LearnedEstimator::learned() const {
  NamedTensors state{{"has_learned", torch::tensor(has_learned_)}};
  add_with_prefix(state, "model.", model_->state());
  add_with_prefix(state, "prior.", prior_.state());
  return state;
}

void LearnedEstimator::load_learned(const NamedTensors& state) {
  const bool has_learned = state_tensor(state, "has_learned", torch::kBool, {}).item<bool>();
  prior_.load_state(with_prefix(state, "prior."));
  model_->load_state(with_prefix(state, "model."));
  if (has_learned && !model_->has_learned()) throw Error("estimator state: what q learned is missing");
  has_learned_ = has_learned;
}

LearnedEstimator::Bound LearnedEstimator::bound(const Parameters& parameters, std::int64_t samples) {
  const torch::NoGradGuard no_gradients;
  const auto at = checked(parameters, sources());
  if (!model_->multilinear()) throw UsageError("anesi: only a multilinear q has a bound; set model=kernel");
  if (!has_learned_) throw UsageError("anesi: q has learned nothing yet");
  const auto draws = draw(at, samples, generator());
  const auto off = (model_->mean(certain_of(draws, sources())) - outcomes_of(draws)).abs();
  const auto count = static_cast<double>(off.numel());
  return {.mean = off.mean().item<double>(), .margin = count > 1 ? 2 * off.std().item<double>() / std::sqrt(count) : 0};
}

namespace {

ANESI_ESTIMATOR("anesi", "A-NeSI: through a q(r|P) that learns how outcomes are distributed", LearnedOptions,
                [](const LearnedOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<LearnedEstimator>(parts, options);
                });

}  // namespace
}  // namespace anesi

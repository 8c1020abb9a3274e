#include "anesi/losses/amortized.h"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"

namespace anesi {
namespace {

// While it lives, matrix products run in bfloat16 where asked for; weights and everything else stay as they are.
class ReducedPrecision {
 public:
  ReducedPrecision(bool reduced, torch::DeviceType device)
      : device_(device), before_(at::autocast::is_autocast_enabled(device)) {
    if (reduced) at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(device_, reduced);
  }
  ~ReducedPrecision() {
    at::autocast::set_autocast_enabled(device_, before_);
    at::autocast::clear_cache();
  }
  ReducedPrecision(const ReducedPrecision&) = delete;
  ReducedPrecision& operator=(const ReducedPrecision&) = delete;

 private:
  torch::DeviceType device_;
  bool before_;
};

}  // namespace

AmortizedLoss::AmortizedLoss(const Problem& problem, std::shared_ptr<SequenceModel> model,
                             std::unique_ptr<BeliefPrior> prior, AmortizedOptions options, std::int64_t steps,
                             at::Generator generator)
    : problem_(problem),
      model_(std::move(model)),
      prior_(std::move(prior)),
      options_(std::move(options)),
      optimizer_(model_->parameters()),
      steps_(steps),
      generator_(std::move(generator)) {}

double AmortizedLoss::update() {
  prior_->fit();
  const auto beliefs = prior_->sample(options_.samples, generator_);
  return update_on(beliefs, problem_.apply_batch(sample_worlds(beliefs, generator_)));
}

double AmortizedLoss::update_on(const torch::Tensor& beliefs, const torch::Tensor& outputs) {
  optimizer_.zero_gradients();
  torch::Tensor loss;
  {
    const ReducedPrecision precision(options_.precision == "bf16", beliefs.device().type());
    loss = -model_->log_prob(beliefs, outputs).mean();
  }
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) throw Error("q: the loss is not a finite number; a lower q.lr may help");
  loss.backward();
  const auto rate = options_.schedule.at(step_++, steps_);
  optimizer_.step(rate.learning_rate, rate.beta1);
  optimizer_.zero_gradients();
  return value;
}

double AmortizedLoss::learn(const torch::Tensor& beliefs) {
  if (options_.frozen) return std::numeric_limits<double>::quiet_NaN();
  prior_->observe(beliefs.detach());
  return update();
}

torch::Tensor AmortizedLoss::loss(const torch::Tensor& beliefs, const torch::Tensor& outputs) {
  const FrozenParameters frozen(*model_);
  const ReducedPrecision precision(options_.precision == "bf16", beliefs.device().type());
  return -model_->log_prob(beliefs, outputs).mean();
}

NamedTensors AmortizedLoss::state() const {
  NamedTensors state{{"step", torch::tensor(step_)}};
  for (const auto& [name, tensor] : optimizer_.state()) state["optimizer." + name] = tensor;
  for (const auto& [name, tensor] : prior_->state()) state["prior." + name] = tensor;
  return state;
}

void AmortizedLoss::load_state(const NamedTensors& state) {
  NamedTensors optimizer, prior;
  for (const auto& [name, tensor] : state) {
    if (name.starts_with("optimizer.")) optimizer[name.substr(10)] = tensor;
    if (name.starts_with("prior.")) prior[name.substr(6)] = tensor;
  }
  if (!state.contains("step")) throw Error("checkpoint: q's step count is missing");
  optimizer_.load_state(optimizer);
  prior_->load_state(prior);
  step_ = state.at("step").item<std::int64_t>();
}

}  // namespace anesi

#include "anesi/estimate/parameter_prior.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/estimate/outcome_model.h"

namespace anesi {
namespace {

constexpr double kKept = 0.99;  // of the running averages at each batch

// Standard gamma draws of shape alpha, by torch's own sampler.
torch::Tensor gamma_draws(const torch::Tensor& alpha, std::int64_t count, at::Generator generator) {
  return torch::_standard_gamma(alpha.unsqueeze(0).expand({count, -1}).contiguous(), generator).clamp_min(1e-12);
}

}  // namespace

NormalInverseGamma::NormalInverseGamma(std::int64_t normals)
    : mean_(torch::zeros({normals}, torch::kFloat64)),
      mean_square_(torch::zeros_like(mean_)),
      variance_(torch::zeros_like(mean_)),
      variance_square_(torch::zeros_like(mean_)) {}

void NormalInverseGamma::observe(const torch::Tensor& mean, const torch::Tensor& deviation) {
  weight_ = kKept * weight_ + 1;
  const auto take = [this](torch::Tensor& average, const torch::Tensor& values) {
    average += (values.mean(0) - average) / weight_;
  };
  const auto variance = deviation.square();
  take(mean_, mean);
  take(mean_square_, mean.square());
  take(variance_, variance);
  take(variance_square_, variance.square());
}

NamedTensors NormalInverseGamma::state() const {
  return {{"mean", mean_},
          {"mean_square", mean_square_},
          {"variance", variance_},
          {"variance_square", variance_square_},
          {"weight", torch::tensor(weight_, torch::kFloat64)}};
}

void NormalInverseGamma::load_state(const NamedTensors& state) {
  const auto average = [&](const char* name) { return state_tensor(state, name, torch::kFloat64, mean_.sizes()); };
  const auto mean_square = average("mean_square"), variance = average("variance");
  const auto variance_square = average("variance_square");
  const auto weight = state_tensor(state, "weight", torch::kFloat64, {}).item<double>();
  if (weight < 0 || !(torch::cat({mean_square, variance, variance_square}) >= 0).all().item<bool>()) {
    throw Error("estimator state: averages below 0");
  }
  mean_ = average("mean");
  mean_square_ = mean_square;
  variance_ = variance;
  variance_square_ = variance_square;
  weight_ = weight;
}

torch::Tensor NormalInverseGamma::centre() const { return mean_; }

torch::Tensor NormalInverseGamma::strength() const {
  const auto between = (mean_square_ - mean_.square()).clamp_min(1e-12);
  return (variance_ / between).clamp_max(1);
}

torch::Tensor NormalInverseGamma::shape() const {
  // An inverse gamma has the mean scale / (shape - 1) and the variance mean^2 / (shape - 2).
  const auto between = (variance_square_ - variance_.square()).clamp_min(1e-300);
  return (2 + variance_.square() / between).clamp(3, 20);
}

torch::Tensor NormalInverseGamma::scale() const { return variance_ * (shape() - 1); }

std::pair<torch::Tensor, torch::Tensor> NormalInverseGamma::sample(std::int64_t count, at::Generator generator) const {
  const auto variance = scale() / gamma_draws(shape(), count, generator);
  const auto noise = torch::randn(variance.sizes(), generator, torch::kFloat64);
  return {centre() + noise * (variance / strength()).sqrt(), variance.sqrt()};
}

ParameterPrior::ParameterPrior(Sources sources, const ParameterPriorOptions& options)
    : sources_(std::move(sources)), explore_(options.explore), spread_(options.spread), normals_(sources_.normals) {
  if (sources_.categoricals.variables() > 0) {
    beliefs_ = priors().find(options.beliefs.kind).choose()->make(sources_.categoricals, options.beliefs);
  }
}

Parameters ParameterPrior::around(const Parameters& now, std::int64_t count, at::Generator generator) const {
  auto near = now.rows(torch::randint(now.batch(), {count}, generator, torch::kInt64));
  if (spread_ == 0) return near;
  const auto noise = [&](const torch::Tensor& like) {
    return spread_ * torch::randn(like.sizes(), generator, torch::kFloat64);
  };
  if (near.beliefs.numel() > 0) {
    const auto weights = near.beliefs * noise(near.beliefs).exp();  // what is impossible stays so
    near.beliefs = weights / weights.sum(2, /*keepdim=*/true);
  }
  near.mean = near.mean + near.deviation * noise(near.mean);
  near.deviation = near.deviation * noise(near.deviation).exp();
  return near;
}

NamedTensors ParameterPrior::state() const {
  NamedTensors state{{"observed", torch::tensor(observed_)}};
  add_with_prefix(state, "normals.", normals_.state());
  if (beliefs_) add_with_prefix(state, "beliefs.", beliefs_->state());
  return state;
}

void ParameterPrior::load_state(const NamedTensors& state) {
  const bool observed = state_tensor(state, "observed", torch::kBool, {}).item<bool>();
  normals_.load_state(with_prefix(state, "normals."));
  if (beliefs_) beliefs_->load_state(with_prefix(state, "beliefs."));
  observed_ = observed;
}

void ParameterPrior::observe(const Parameters& now) {
  const torch::NoGradGuard no_gradients;
  observed_ = true;
  if (sources_.normals > 0) normals_.observe(now.mean, now.deviation);
  if (!beliefs_) return;
  beliefs_->observe(now.beliefs.to(torch::kFloat32));
  beliefs_->fit();
}

Parameters ParameterPrior::sample(const Parameters& now, std::int64_t count, at::Generator generator) {
  const torch::NoGradGuard no_gradients;
  auto result = around(now, count, generator);
  const auto explores = torch::rand({count}, generator, torch::kFloat64) < explore_;
  const auto rows = explores.nonzero().view(-1);
  if (!observed_ || rows.size(0) == 0) return result;
  if (beliefs_) {
    const auto drawn = beliefs_->sample(rows.size(0), generator).to(torch::kFloat64);
    result.beliefs = result.beliefs.index_copy(0, rows, drawn / drawn.sum(2, /*keepdim=*/true));
  }
  if (sources_.normals > 0) {
    const auto [mean, deviation] = normals_.sample(rows.size(0), generator);
    result.mean = result.mean.index_copy(0, rows, mean);
    result.deviation = result.deviation.index_copy(0, rows, deviation);
  }
  return result;
}

}  // namespace anesi

#include "anesi/priors/flow.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/models/module_tensors.h"
#include "anesi/priors/dirichlet_sampler.h"
#include "anesi/priors/priors.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfWeights = 23, kSeedOfFits = 29;
constexpr double kWeightDecay = 1e-4, kLargestGradient = 10;
constexpr auto kFlowPrefix = "flow.", kOptimizerPrefix = "optimizer.";

// The same weights in every prior, and none of torch's own random numbers used up.
CouplingFlow fresh_flow(std::int64_t size, const FlowOptions& options) {
  const SeededWeights seeded_weights(kSeedOfWeights);
  return CouplingFlow(size, options.layers, options.width);
}

}  // namespace

FlowPrior::FlowPrior(const Space& worlds, FlowOptions options, std::int64_t window, double initial)
    : options_(within_ranges("flow", options)),
      window_(worlds, window),
      ratios_(worlds),
      concentration_((uniform_beliefs(1, worlds).squeeze(0) > 0).to(torch::kFloat64) * initial),
      flow_(fresh_flow(ratios_.size(), options)),
      optimizer_(flow_.parameters(), {.weight_decay = kWeightDecay}) {
  if (!(initial > 0)) throw UsageError(fmt::format("prior initial concentration {}; it must be positive", initial));
}

void FlowPrior::fit() {
  if (window_.size() == 0) return;
  const auto observed = ratios_.of(window_.beliefs());
  whiten(observed);
  if (flow_.parameters().empty()) return;
  const auto generator = seeded(kSeedOfFits + static_cast<std::uint64_t>(fits_++));
  const auto rows = torch::randint(window_.size(), {options_.steps * options_.batch}, generator, torch::kInt64);
  const auto noise = torch::randn({rows.size(0), observed.size(1)}, generator, torch::kFloat64);
  const auto points = whitened(observed.index_select(0, rows) + options_.noise * noise);
  for (const auto& batch : points.split(options_.batch)) {
    if (!std::isfinite(step(batch))) throw Error("flow prior: the fit diverged; a lower flow.lr may help");
  }
}

void FlowPrior::whiten(const torch::Tensor& ratios) {
  mean_ = ratios.mean(0);
  const auto centred = ratios - mean_;
  const auto covariance = centred.t().mm(centred) / static_cast<double>(ratios.size(0));
  const auto noise = options_.noise * options_.noise * torch::eye(ratios.size(1), torch::kFloat64);
  factor_ = at::linalg_cholesky(covariance + noise);
}

torch::Tensor FlowPrior::whitened(const torch::Tensor& ratios) const {
  return at::linalg_solve_triangular(factor_, (ratios - mean_).t(), /*upper=*/false).t().to(torch::kFloat32);
}

double FlowPrior::step(const torch::Tensor& whitened) {
  const torch::AutoGradMode gradients(true);
  optimizer_.zero_gradients();
  const auto loss = -flow_.log_density(whitened).mean();
  loss.backward();
  torch::nn::utils::clip_grad_norm_(flow_.parameters(), kLargestGradient);
  optimizer_.step(options_.lr);
  optimizer_.zero_gradients();
  return loss.item<double>();
}

torch::Tensor FlowPrior::sample(std::int64_t count, at::Generator generator) {
  const torch::NoGradGuard no_gradients;
  const auto own = seeded(draw_seed(std::move(generator)));
  auto broad = sample_dirichlet(concentration_, count, own);
  if (!fitted()) return broad;
  const auto points = flow_.from_normal(torch::randn({count, ratios_.size()}, own)).to(torch::kFloat64);
  const auto drawn = ratios_.beliefs(points.mm(factor_.t()) + mean_);
  return torch::where(torch::rand({count, 1, 1}, own) < options_.broad, broad, drawn);
}

torch::Tensor FlowPrior::log_density(const torch::Tensor& beliefs) {
  if (!fitted()) throw Error("flow prior: no density before the first fit; observe beliefs and fit");
  const torch::NoGradGuard no_gradients;
  const auto of_flow = flow_.log_density(whitened(ratios_.of(beliefs))).to(torch::kFloat64);
  return of_flow - factor_.diagonal().log().sum();
}

NamedTensors FlowPrior::state() const {
  auto state = copied(module_tensors(flow_, kFlowPrefix));
  add_with_prefix(state, kOptimizerPrefix, copied(optimizer_.state()));
  add_with_prefix(state, "", window_.state());
  state["fits"] = torch::tensor(fits_, torch::kLong);
  if (fitted()) {
    state["mean"] = mean_.clone();
    state["factor"] = factor_.clone();
  }
  return state;
}

void FlowPrior::load_state(const NamedTensors& state) {
  const auto size = ratios_.size();
  const auto fits = saved_tensor(state, "fits", torch::kLong, {});
  torch::Tensor mean, factor;
  if (state.contains("mean") || state.contains("factor")) {
    mean = saved_tensor(state, "mean", torch::kFloat64, {size}).clone();
    factor = saved_tensor(state, "factor", torch::kFloat64, {size, size}).clone();
  }
  for (const auto& [name, tensor] : module_tensors(flow_, kFlowPrefix)) {
    saved_tensor(state, name, tensor.scalar_type(), tensor.sizes());
  }
  Adam optimizer(flow_.parameters(), {.weight_decay = kWeightDecay});
  optimizer.load_state(with_prefix(state, kOptimizerPrefix));
  window_.load_state(state);
  load_module_tensors(flow_, kFlowPrefix, state, "prior state");
  optimizer_ = std::move(optimizer);
  mean_ = mean;
  factor_ = factor;
  fits_ = fits.item<std::int64_t>();
}

namespace {

ANESI_PRIOR("flow", "a normalizing flow over all variables together, fitted to what perception emits", FlowOptions,
            [](const FlowOptions& options, const Space& worlds,
               const PriorOptions& common) -> std::unique_ptr<BeliefPrior> {
              return std::make_unique<FlowPrior>(worlds, options, common.fit.window, common.fit.initial);
            });

}  // namespace
}  // namespace anesi

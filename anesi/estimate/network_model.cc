// q(r|P) by a network of P: appendix C of the paper as it is written.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/estimate/outcome_bins.h"
#include "anesi/estimate/outcome_model.h"
#include "anesi/models/module_tensors.h"
#include "anesi/optimize/adam.h"

namespace anesi {
namespace {

constexpr double kLeastLogDeviation = -3;  // in units of all outcomes' deviation: sharper ones learn badly

class NetworkModel final : public OutcomeModel {
 public:
  NetworkModel(const Sources& sources, std::int64_t outcomes, OutcomeModelKind kind, const NetworkOptions& options,
               at::Generator generator)
      : outcomes_(outcomes), kind_(kind), options_(options), generator_(std::move(generator)) {
    inputs_ = sources.categoricals.variables() * sources.categoricals.largest_domain() + 2 * sources.normals;
    auto width = inputs_;
    for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
      network_->push_back(torch::nn::Linear(width, options_.width));
      network_->push_back(torch::nn::SiLU());
      width = options_.width;
    }
    network_->push_back(torch::nn::Linear(width, outcomes * heads()));
    network_->to(torch::kFloat64);
    adam_ = std::make_unique<Adam>(network_->parameters());
  }

  torch::Tensor mean(const Parameters& parameters) override {
    const auto heads = of_inputs(inputs_of(parameters));
    torch::Tensor standard;
    if (kind_ == OutcomeModelKind::kNormal) {
      standard = heads.select(2, 0);
    } else if (kind_ == OutcomeModelKind::kMixture) {
      const auto parts = heads.view({heads.size(0), outcomes_, 3, -1});
      standard = (parts.select(2, 2).softmax(2) * parts.select(2, 0)).sum(2);
    } else {
      std::vector<torch::Tensor> means;
      for (std::int64_t outcome = 0; outcome < outcomes_; ++outcome) {
        const auto& bins = bins_[as_size(outcome)];
        means.push_back(heads.select(1, outcome).slice(1, 0, bins.size()).softmax(1).mv(bins.centres()));
      }
      return torch::stack(means, 1);
    }
    return centre_ + scale_ * standard;
  }

  torch::Tensor log_prob(const Parameters& parameters, const torch::Tensor& outcomes) override {
    return log_prob_of(inputs_of(parameters), outcomes);
  }

  double learn(const Parameters& parameters, const Draws&, const torch::Tensor& outcomes) override {
    remember(inputs_of(parameters), outcomes);
    for (std::int64_t update = 0; update < options_.updates; ++update) {
      const auto rows = torch::randint(seen_outcomes_.size(0), {options_.batch}, generator_, torch::kInt64);
      adam_->zero_gradients();
      (-log_prob_of(seen_inputs_.index_select(0, rows), seen_outcomes_.index_select(0, rows)).mean()).backward();
      adam_->step(options_.lr);
    }
    const torch::NoGradGuard no_gradients;
    return -log_prob(parameters, outcomes).mean().item<double>();
  }

  bool has_learned() const override { return seen_outcomes_.defined(); }

  NamedTensors state() const override {
    auto state = module_tensors(*network_, "network.");
    add_with_prefix(state, "optimizer.", adam_->state());
    if (!has_learned()) return state;
    state["inputs"] = seen_inputs_;
    state["outcomes"] = seen_outcomes_;
    state["centre"] = centre_;
    state["scale"] = scale_;
    state["fitted_at"] = torch::tensor(seen_when_fitted_, torch::kInt64);
    for (std::size_t outcome = 0; outcome < bins_.size(); ++outcome) {
      add_with_prefix(state, fmt::format("bins.{}.", outcome), bins_[outcome].state());
    }
    return state;
  }

  void load_state(const NamedTensors& state) override {
    load_module_tensors(*network_, "network.", state, "estimator state");
    adam_->load_state(with_prefix(state, "optimizer."));
    seen_inputs_ = seen_outcomes_ = torch::Tensor();
    seen_when_fitted_ = 0;
    if (!state.contains("outcomes")) return;
    const auto outcomes = state_tensor(state, "outcomes", torch::kFloat64, {-1, outcomes_});
    const auto inputs = state_tensor(state, "inputs", torch::kFloat64, {outcomes.size(0), inputs_});
    const auto centre = state_tensor(state, "centre", torch::kFloat64, {outcomes_});
    const auto scale = state_tensor(state, "scale", torch::kFloat64, {outcomes_});
    const auto fitted_at = state_tensor(state, "fitted_at", torch::kInt64, {}).item<std::int64_t>();
    if (outcomes.size(0) < 1 || outcomes.size(0) > options_.memory || fitted_at < 1 ||
        !(scale > 0).all().item<bool>()) {
      throw Error("estimator state: what was seen is out of range, or more than is remembered");
    }
    std::vector<OutcomeBins> bins;
    for (std::int64_t outcome = 0; outcome < outcomes_; ++outcome) {
      bins.emplace_back(with_prefix(state, fmt::format("bins.{}.", outcome)));
      if (bins.back().size() > options_.bins) throw Error("estimator state: there are more bins than were asked for");
    }
    seen_inputs_ = inputs;
    seen_outcomes_ = outcomes;
    centre_ = centre;
    scale_ = scale;
    seen_when_fitted_ = fitted_at;
    bins_ = std::move(bins);
  }

 private:
  std::int64_t heads() const {
    if (kind_ == OutcomeModelKind::kNormal) return 2;
    return kind_ == OutcomeModelKind::kMixture ? 3 * options_.components : options_.bins;
  }

  static torch::Tensor inputs_of(const Parameters& parameters) {
    return torch::cat({parameters.beliefs.flatten(1), parameters.mean, parameters.deviation.log()}, 1);
  }
  torch::Tensor of_inputs(const torch::Tensor& inputs) {
    return network_->forward(inputs).view({inputs.size(0), outcomes_, -1});
  }

  torch::Tensor log_prob_of(const torch::Tensor& inputs, const torch::Tensor& outcomes) {
    const auto heads = of_inputs(inputs);
    if (kind_ == OutcomeModelKind::kHistogram) return histogram_log_prob(heads, outcomes);
    const auto standard = ((outcomes - centre_) / scale_).unsqueeze(2);
    const auto parts = heads.view({heads.size(0), outcomes_, kind_ == OutcomeModelKind::kNormal ? 2 : 3, -1});
    const auto log_deviation = parts.select(2, 1).clamp_min(kLeastLogDeviation);
    const auto off = (standard - parts.select(2, 0)) / log_deviation.exp();
    auto each = -0.5 * off.square() - log_deviation - 0.5 * std::log(2 * std::numbers::pi);
    if (kind_ == OutcomeModelKind::kMixture) {
      each = (each + parts.select(2, 2).log_softmax(2)).logsumexp(2, /*keepdim=*/true);
    }
    return (each.squeeze(2) - scale_.log()).sum(1);
  }

  torch::Tensor histogram_log_prob(const torch::Tensor& heads, const torch::Tensor& outcomes) const {
    auto result = torch::zeros({heads.size(0)}, torch::kFloat64);
    for (std::int64_t outcome = 0; outcome < outcomes_; ++outcome) {
      const auto& bins = bins_[as_size(outcome)];
      const auto density = heads.select(1, outcome).slice(1, 0, bins.size()).log_softmax(1) - bins.widths().log();
      result = result + density.gather(1, bins.bin_of(outcomes.select(1, outcome)).unsqueeze(1)).squeeze(1);
    }
    return result;
  }

  // Units and bins are fitted whenever twice as many outcomes were seen, until memory is full.
  void remember(const torch::Tensor& inputs, const torch::Tensor& outcomes) {
    const auto add = [this](torch::Tensor& all, const torch::Tensor& more) {
      all = all.defined() ? torch::cat({all, more}) : more.clone();
      if (all.size(0) > options_.memory) all = all.slice(0, all.size(0) - options_.memory).clone();
    };
    add(seen_inputs_, inputs.detach());
    add(seen_outcomes_, outcomes.detach());
    if (seen_outcomes_.size(0) < 2 * seen_when_fitted_) return;
    seen_when_fitted_ = seen_outcomes_.size(0);
    centre_ = seen_outcomes_.mean(0);
    scale_ = seen_outcomes_.std(0, /*unbiased=*/false);
    scale_ = torch::where(scale_ > 0, scale_, torch::ones_like(scale_));
    bins_.clear();
    for (std::int64_t outcome = 0; outcome < outcomes_; ++outcome) {
      bins_.emplace_back(seen_outcomes_.select(1, outcome).contiguous(), options_.bins);
    }
  }

  std::int64_t outcomes_, inputs_ = 0;
  OutcomeModelKind kind_;
  NetworkOptions options_;
  at::Generator generator_;
  torch::nn::Sequential network_;
  std::unique_ptr<Adam> adam_;
  torch::Tensor seen_inputs_, seen_outcomes_;
  torch::Tensor centre_, scale_;  // units of outcomes, [outcomes]
  std::vector<OutcomeBins> bins_;
  std::int64_t seen_when_fitted_ = 0;
};

}  // namespace

std::unique_ptr<OutcomeModel> make_network_model(const Sources& sources, std::int64_t outcomes, OutcomeModelKind kind,
                                                 const NetworkOptions& options, at::Generator generator) {
  return std::make_unique<NetworkModel>(sources, outcomes, kind, options, std::move(generator));
}

}  // namespace anesi

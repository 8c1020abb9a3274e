// q(r|P) by a regression that is multilinear in P.
//
// It learns from worlds alone, as a transducer does: what it says of P is the mean of what it says of z ~ P. The second
// moments are regressed beside the outcomes, and q is the normal that has both; or the shares of bins are, and q is a
// histogram.
#include <cmath>
#include <numbers>

#include "anesi/estimate/kernel_regression.h"
#include "anesi/estimate/outcome_bins.h"
#include "anesi/estimate/outcome_model.h"

namespace anesi {
namespace {

constexpr double kLeastVariance = 1e-6;  // as a share of the variance of all outcomes seen
constexpr double kLeastShare = 1e-4;     // of a bin

class KernelModel final : public OutcomeModel {
 public:
  KernelModel(const Sources& sources, const KernelOptions& options)
      : regression_(sources, {.orders = options.orders, .memory = options.memory}), bins_(options.bins) {}

  torch::Tensor mean(const Parameters& parameters) override {
    if (bins_ == 0) return regression_.mean(parameters);
    return expected(parameters, targets_);
  }

  torch::Tensor log_prob(const Parameters& parameters, const torch::Tensor& outcomes) override {
    return bins_ == 0 ? normal_log_prob(parameters, outcomes) : histogram_log_prob(parameters, outcomes);
  }

  double learn(const Parameters& parameters, const Draws& draws, const torch::Tensor& outcomes) override {
    const torch::NoGradGuard no_gradients;
    regression_.add(draws, outcomes);
    if (bins_ > 0) sort_into_bins();
    return -log_prob(parameters, outcomes).mean().item<double>();
  }

  bool multilinear() const override { return true; }

  bool has_learned() const override { return !regression_.empty(); }
  NamedTensors state() const override { return regression_.state(); }
  void load_state(const NamedTensors& state) override {
    const torch::NoGradGuard no_gradients;
    regression_.load_state(state);
    if (bins_ > 0 && has_learned()) sort_into_bins();
  }

 private:
  // E[the regression of targets], [batch, columns].
  torch::Tensor expected(const Parameters& parameters, const torch::Tensor& targets) const {
    return targets.mean(0) + regression_.kernel(parameters).mm(regression_.weights_of(targets));
  }

  torch::Tensor normal_log_prob(const Parameters& parameters, const torch::Tensor& outcomes) const {
    const auto& seen = regression_.outcomes();
    const auto centred = seen - seen.mean(0);
    const auto moments = expected(parameters, torch::cat({centred, centred.square()}, 1));
    const auto first = moments.slice(1, 0, seen.size(1)), second = moments.slice(1, seen.size(1));
    const auto least = (kLeastVariance * centred.square().mean(0)).clamp_min(1e-12);
    const auto variance = torch::maximum(second - first.square(), least);
    const auto off = outcomes - seen.mean(0) - first;
    return -0.5 * (off.square() / variance + variance.log() + std::log(2 * std::numbers::pi)).sum(1);
  }

  torch::Tensor histogram_log_prob(const Parameters& parameters, const torch::Tensor& outcomes) const {
    auto result = torch::zeros({outcomes.size(0)}, torch::kFloat64);
    for (std::int64_t outcome = 0; outcome < outcomes.size(1); ++outcome) {
      const auto& bins = of_outcomes_[static_cast<std::size_t>(outcome)];
      const auto is_in = torch::one_hot(bins.bin_of(regression_.outcomes().select(1, outcome)), bins.size());
      auto shares = expected(parameters, is_in.to(torch::kFloat64)).clamp_min(kLeastShare);
      shares = shares / shares.sum(1, /*keepdim=*/true);
      const auto density = (shares / bins.widths()).log();
      result = result + density.gather(1, bins.bin_of(outcomes.select(1, outcome)).unsqueeze(1)).squeeze(1);
    }
    return result;
  }

  // Outcomes count as the mean of their bin from here on.
  void sort_into_bins() {
    of_outcomes_.clear();
    std::vector<torch::Tensor> columns;
    const auto& seen = regression_.outcomes();
    for (std::int64_t outcome = 0; outcome < seen.size(1); ++outcome) {
      of_outcomes_.emplace_back(seen.select(1, outcome).contiguous(), bins_);
      const auto& bins = of_outcomes_.back();
      columns.push_back(bins.centres().index_select(0, bins.bin_of(seen.select(1, outcome))));
    }
    targets_ = torch::stack(columns, 1);
  }

  KernelRegression regression_;
  std::int64_t bins_;
  std::vector<OutcomeBins> of_outcomes_;
  torch::Tensor targets_;  // [seen, outcomes]
};

}  // namespace

std::unique_ptr<OutcomeModel> make_kernel_model(const Sources& sources, const KernelOptions& options) {
  return std::make_unique<KernelModel>(sources, options);
}

}  // namespace anesi

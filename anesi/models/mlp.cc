#include "anesi/models/mlp.h"

#include <limits>
#include <numeric>

#include "anesi/models/architecture.h"

namespace anesi {
namespace {

torch::nn::Sequential factor_network(std::int64_t inputs, std::int64_t outputs, const MlpOptions& options) {
  torch::nn::Sequential network;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    network->push_back(torch::nn::Linear(layer == 0 ? inputs : options.width, options.width));
    network->push_back(torch::nn::ReLU(torch::nn::ReLUOptions().inplace(true)));
  }
  network->push_back(torch::nn::Linear(options.width, outputs));
  return network;
}

// One-hot float columns [rows, domain] of int64 values [rows]; all zero for kNone.
torch::Tensor one_hot_columns(const torch::Tensor& values, std::int64_t domain) {
  return torch::zeros({values.size(0), domain + 1}, values.options().dtype(torch::kFloat32))
      .scatter_(1, (values + 1).unsqueeze(1), 1.0)
      .slice(1, 1);
}

// Logarithms are shown to networks down to this belief, and at a scale at which most of them are about 1.
constexpr double kSmallestBelief = 1e-6, kScaleOfLogs = 0.25;

}  // namespace

class MlpRollout final : public Rollout {
 public:
  MlpRollout(Mlp& model, const Context& context) : model_(model), inputs_(model.flatten(context)) {}

  torch::Tensor next_log_probs() override { return model_.factor_log_probs(variable_, inputs_); }
  void advance(const torch::Tensor& values) override {
    inputs_ = torch::cat({inputs_, one_hot_columns(values, model_.space().domain(variable_))}, 1);
    ++variable_;
  }
  void select(const torch::Tensor& rows) override { inputs_ = inputs_.index_select(0, rows); }

 private:
  Mlp& model_;
  torch::Tensor inputs_;  // [rows, flat context + one-hot values so far]
  std::int64_t variable_ = 0;
};

Mlp::Mlp(const Space& worlds, const Space& outputs, bool explains, const MlpOptions& options)
    : SequenceModel(explains ? worlds : outputs),
      outputs_(outputs),
      largest_domain_(worlds.largest_domain()),
      follows_beliefs_(explains && options.follow_beliefs),
      sees_logs_(options.log_beliefs) {
  auto inputs = worlds.variables() * worlds.largest_domain() * (sees_logs_ ? 2 : 1);
  if (explains) inputs = std::accumulate(outputs.domains().begin(), outputs.domains().end(), inputs);
  for (std::int64_t variable = 0; variable < space().variables(); ++variable) {
    factors_.emplace_back(register_module("factor" + std::to_string(variable),
                                          factor_network(inputs, space().domain(variable), options)));
    inputs += space().domain(variable);
    if (!follows_beliefs_) continue;
    const torch::NoGradGuard no_gradients;
    for (const auto& parameter : factors_.back()->ptr(factors_.back()->size() - 1)->parameters()) {
      auto last_layer = parameter;
      last_layer.zero_();
    }
  }
}

torch::Tensor Mlp::flatten(const Context& context) const {
  std::vector<torch::Tensor> columns{context.beliefs.flatten(1)};
  if (sees_logs_) columns.push_back(columns[0].clamp_min(kSmallestBelief).log() * kScaleOfLogs);
  for (std::int64_t variable = 0; context.explains() && variable < outputs_.variables(); ++variable) {
    columns.push_back(one_hot_columns(context.outputs.select(1, variable), outputs_.domain(variable)));
  }
  return columns.size() == 1 ? columns[0] : torch::cat(columns, 1);
}

torch::Tensor Mlp::factor_log_probs(std::int64_t variable, const torch::Tensor& inputs) {
  auto logits = full_precision(factors_[static_cast<std::size_t>(variable)]->forward(inputs));
  if (follows_beliefs_) {
    const auto begin = variable * largest_domain_;  // beliefs stand first
    const auto belief = inputs.slice(1, begin, begin + space().domain(variable));
    logits = logits + belief.clamp_min(std::numeric_limits<float>::min()).log();
  }
  return logits.log_softmax(1);
}

torch::Tensor Mlp::log_prob(const Context& context, const torch::Tensor& values) {
  // Teacher forcing: the known values make every factor's input, each a prefix of the same row.
  std::vector<torch::Tensor> columns{flatten(context)};
  for (std::int64_t variable = 0; variable + 1 < space().variables(); ++variable) {
    columns.push_back(one_hot_columns(values.select(1, variable), space().domain(variable)));
  }
  const auto all_inputs = torch::cat(columns, 1);
  torch::Tensor total;
  auto width = columns[0].size(1);
  for (std::int64_t variable = 0; variable < space().variables(); ++variable) {
    const auto chosen = factor_log_probs(variable, all_inputs.slice(1, 0, width))
                            .gather(1, values.slice(1, variable, variable + 1))
                            .squeeze(1);
    total = total.defined() ? total + chosen : chosen;
    width += space().domain(variable);
  }
  return total;
}

std::unique_ptr<Rollout> Mlp::begin(const Context& context) { return std::make_unique<MlpRollout>(*this, context); }

ANESI_ARCHITECTURE("mlp", "the paper's: a separate multilayer perceptron for every factor", MlpOptions,
                   [](const MlpOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto make = [&](bool explains) {
                       return std::make_shared<Mlp>(problem.worlds(), problem.outputs(), explains, options);
                     };
                     return {make(false), explain ? make(true) : nullptr};
                   });

}  // namespace anesi

#include "anesi/models/mlp.h"

#include <numeric>

#include "anesi/models/architecture.h"

namespace anesi {
namespace {

std::vector<std::int64_t> natural_order(const Space& space) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(space.variables()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

torch::nn::Sequential factor_network(std::int64_t inputs, std::int64_t outputs, const MlpOptions& options) {
  torch::nn::Sequential network;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    network->push_back(torch::nn::Linear(layer == 0 ? inputs : options.width, options.width));
    network->push_back(torch::nn::ReLU(torch::nn::ReLUOptions().inplace(true)));
  }
  network->push_back(torch::nn::Linear(options.width, outputs));
  return network;
}

// One-hot float columns [rows, domain] of int64 values [rows].
torch::Tensor one_hot_columns(const torch::Tensor& values, std::int64_t domain) {
  return torch::zeros({values.size(0), domain}, values.options().dtype(torch::kFloat32))
      .scatter_(1, values.unsqueeze(1), 1.0);
}

}  // namespace

class MlpRollout final : public Rollout {
 public:
  MlpRollout(Mlp& model, const torch::Tensor& beliefs) : model_(model), inputs_(beliefs.flatten(1)) {}

  torch::Tensor next_log_probs() override { return model_.factor_log_probs(variable_, inputs_); }
  void advance(const torch::Tensor& values) override {
    inputs_ = torch::cat({inputs_, one_hot_columns(values, model_.space().domain(variable_))}, 1);
    ++variable_;
  }
  void select(const torch::Tensor& rows) override { inputs_ = inputs_.index_select(0, rows); }

 private:
  Mlp& model_;
  torch::Tensor inputs_;  // [rows, flat belief + one-hot values so far]
  std::int64_t variable_ = 0;
};

Mlp::Mlp(const Space& worlds, const Space& outputs, const MlpOptions& options)
    : SequenceModel(outputs, natural_order(outputs)) {
  auto inputs = worlds.variables() * worlds.largest_domain();
  for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
    factors_.push_back(register_module("factor" + std::to_string(variable),
                                       factor_network(inputs, outputs.domain(variable), options)));
    inputs += outputs.domain(variable);
  }
}

torch::Tensor Mlp::factor_log_probs(std::int64_t variable, const torch::Tensor& inputs) {
  return factors_[static_cast<std::size_t>(variable)]->forward(inputs).to(torch::kFloat32).log_softmax(1);
}

torch::Tensor Mlp::log_prob(const torch::Tensor& beliefs, const torch::Tensor& values) {
  // Teacher forcing: the known values make every factor's input, each a prefix of the same row.
  std::vector<torch::Tensor> columns{beliefs.flatten(1)};
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

std::unique_ptr<Rollout> Mlp::begin(const torch::Tensor& beliefs) {
  return std::make_unique<MlpRollout>(*this, beliefs);
}

ANESI_ARCHITECTURE("mlp", "the paper's: a separate multilayer perceptron for every factor", MlpOptions,
                   [](const Problem& problem, const MlpOptions& options) {
                     return std::make_shared<Mlp>(problem.worlds(), problem.outputs(), options);
                   });

}  // namespace anesi

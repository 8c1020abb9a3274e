#include "anesi/priors/coupling_flow.h"

#include <cmath>
#include <string>

#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfHalves = 17;
constexpr double kLargestLogScale = 2;

}  // namespace

CouplingFlow::CouplingFlow(std::int64_t size, std::int64_t layers, std::int64_t width) {
  if (size < 2) return;
  const auto generator = seeded(kSeedOfHalves);
  torch::Tensor order;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    // Two layers after each other change the two halves of one division.
    order = layer % 2 == 0 ? torch::randperm(size, generator, torch::kInt64) : order.flip(0);
    Coupling coupling;
    coupling.kept = order.slice(0, 0, size / 2).contiguous();
    coupling.changed = order.slice(0, size / 2).contiguous();
    const torch::nn::Linear last(width, 2 * coupling.changed.size(0));
    torch::nn::init::zeros_(last->weight);
    torch::nn::init::zeros_(last->bias);
    coupling.network =
        register_module("coupling" + std::to_string(layer),
                        torch::nn::Sequential(torch::nn::Linear(coupling.kept.size(0), width), torch::nn::ReLU(),
                                              torch::nn::Linear(width, width), torch::nn::ReLU(), last));
    couplings_.push_back(coupling);
  }
}

CouplingFlow::Coupling::Change CouplingFlow::Coupling::change(const torch::Tensor& points) {
  const auto told = network->forward(points.index_select(1, kept)).chunk(2, 1);
  return {kLargestLogScale * torch::tanh(told[0] / kLargestLogScale), told[1]};
}

CouplingFlow::Normal CouplingFlow::to_normal(const torch::Tensor& data) {
  Normal normal{data, torch::zeros({data.size(0)}, data.options())};
  for (auto& coupling : couplings_) {
    const auto [log_scale, shift] = coupling.change(normal.points);
    const auto changed = normal.points.index_select(1, coupling.changed) * log_scale.exp() + shift;
    normal.points = normal.points.index_copy(1, coupling.changed, changed);
    normal.log_det = normal.log_det + log_scale.sum(1);
  }
  return normal;
}

torch::Tensor CouplingFlow::from_normal(const torch::Tensor& points) {
  const torch::NoGradGuard no_gradients;
  auto data = points;
  for (auto coupling = couplings_.rbegin(); coupling != couplings_.rend(); ++coupling) {
    const auto [log_scale, shift] = coupling->change(data);
    const auto changed = (data.index_select(1, coupling->changed) - shift) * (-log_scale).exp();
    data = data.index_copy(1, coupling->changed, changed);
  }
  return data;
}

torch::Tensor CouplingFlow::log_density(const torch::Tensor& data) {
  const auto [points, log_det] = to_normal(data);
  const double constant = 0.5 * std::log(2 * M_PI) * static_cast<double>(data.size(1));
  return log_det - 0.5 * points.square().sum(1) - constant;
}

}  // namespace anesi

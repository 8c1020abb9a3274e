#include "anesi/models/relu_network.h"
#include "anesi/tensors/problem.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

namespace anesi {
namespace {

struct Network {
  explicit Network(torch::ScalarType kind) {
    torch::manual_seed(3);
    inputs = torch::rand({50, 6}, kind).requires_grad_();
    weights_of_outputs = torch::randn({2, 50}, kind);
    for (const auto& [from, to] : {std::pair{6, 20}, {20, 30}, {30, 2}}) {
      layers.emplace_back(torch::nn::LinearOptions(from, to));
      layers.back()->to(kind);
    }
  }

  torch::Tensor composed() const {
    auto values = inputs;
    for (std::size_t place = 0; place + 1 < layers.size(); ++place)
      values = torch::nn::Linear(layers[place])(values).relu();
    return torch::nn::Linear(layers.back())(values).t();
  }

  // Of a sum of all outputs, each with a weight of its own: of the inputs, then of the weights and biases.
  std::vector<torch::Tensor> gradients(const torch::Tensor& outputs) const {
    std::vector<torch::Tensor> of{inputs};
    for (const auto& layer : layers) of.insert(of.end(), {layer->weight, layer->bias});
    return torch::autograd::grad({(outputs * weights_of_outputs).sum()}, of);
  }

  torch::Tensor inputs, weights_of_outputs;
  std::vector<torch::nn::Linear> layers;
};

double distance(const torch::Tensor& one, const torch::Tensor& other) {
  return ((one - other).norm() / other.norm()).item<double>();
}

TEST(ReluNetwork, IsTheCompositionOfItsLayersAndHasItsGradients) {
  const Network network(torch::kFloat64);
  const auto outputs = relu_network(network.inputs, network.layers), expected = network.composed();
  EXPECT_LT(distance(outputs, expected), 1e-12);
  const auto gradients = network.gradients(outputs), expected_gradients = network.gradients(expected);
  for (std::size_t place = 0; place < gradients.size(); ++place) {
    EXPECT_LT(distance(gradients[place], expected_gradients[place]), 1e-12) << "of tensor " << place;
  }
}

TEST(ReluNetwork, IsAsPreciseUnderAutocastAsTheComposition) {
  const Network network(torch::kFloat32);
  at::autocast::set_autocast_dtype(at::kCPU, torch::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const auto outputs = relu_network(network.inputs, network.layers), reduced = network.composed();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  const auto exact = network.composed();
  EXPECT_EQ(outputs.scalar_type(), torch::kFloat32);
  EXPECT_GT(distance(outputs, exact), 1e-4) << "products were not in bfloat16";
  EXPECT_LT(distance(outputs, exact), 1.5 * distance(reduced, exact));
  const auto of = network.gradients(outputs), of_reduced = network.gradients(reduced),
             of_exact = network.gradients(exact);
  for (std::size_t place = 0; place < of.size(); ++place) {
    EXPECT_EQ(of[place].scalar_type(), torch::kFloat32);
    EXPECT_LT(distance(of[place], of_exact[place]), 1.5 * distance(of_reduced[place], of_exact[place]) + 1e-3)
        << "of tensor " << place;
  }
}

TEST(ReluNetwork, GivesNoGradientToFrozenWeights) {
  const Network network(torch::kFloat64);
  for (const auto& layer : network.layers) {
    for (const auto& parameter : layer->parameters()) parameter.requires_grad_(false);
  }
  const auto with = relu_network(network.inputs, network.layers), without = network.composed();
  const auto of_inputs = [&](const torch::Tensor& outputs) {
    return torch::autograd::grad({(outputs * network.weights_of_outputs).sum()}, {network.inputs})[0];
  };
  EXPECT_LT(distance(of_inputs(with), of_inputs(without)), 1e-12);
  EXPECT_FALSE(network.layers[0]->weight.grad().defined());
}

}  // namespace
}  // namespace anesi

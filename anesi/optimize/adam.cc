#include "anesi/optimize/adam.h"

#include <ATen/ops/_fused_adamw.h>
#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/tensors/one_thread.h"

namespace anesi {

Adam::Adam(std::vector<torch::Tensor> parameters, AdamOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const auto& parameter : parameters_) {
    // Laid out like the parameter (channels-last weights too), so that the kernel walks all of them side by side.
    first_moments_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Preserve));
    second_moments_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Preserve));
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)));
  }
}

void Adam::zero_gradients() {
  for (auto& parameter : parameters_) parameter.mutable_grad().reset();
}

void Adam::step(double learning_rate, double beta1) {
  std::vector<torch::Tensor> parameters, gradients, first, second, steps;
  std::int64_t numbers = 0;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const auto& gradient = parameters_[index].grad();
    if (!gradient.defined()) continue;
    numbers += gradient.numel();
    parameters.push_back(parameters_[index]);
    gradients.push_back(gradient.strides() == parameters_[index].strides()
                            ? gradient
                            : torch::empty_like(parameters_[index], torch::MemoryFormat::Preserve).copy_(gradient));
    first.push_back(first_moments_[index]);
    second.push_back(second_moments_[index]);
    steps.push_back(steps_[index]);
  }
  if (parameters.empty()) return;
  const torch::NoGradGuard no_gradients;
  const OneThread alone(numbers <= kSmallOperation);
  torch::_foreach_add_(steps, 1);
  at::_fused_adamw_(parameters, gradients, first, second, {}, steps, learning_rate, beta1, options_.beta2,
                    options_.weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void Adam::to(torch::ScalarType type) {
  for (auto& moment : first_moments_) moment = moment.to(type);
  for (auto& moment : second_moments_) moment = moment.to(type);
}

NamedTensors Adam::state() const {
  NamedTensors state;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    state[fmt::format("{}.first", index)] = first_moments_[index];
    state[fmt::format("{}.second", index)] = second_moments_[index];
    state[fmt::format("{}.steps", index)] = steps_[index];
  }
  return state;
}

void Adam::load_state(const NamedTensors& state) {
  const torch::NoGradGuard no_gradients;
  const auto load = [&](torch::Tensor& target, const std::string& name) {
    const auto found = state.find(name);
    if (found == state.end() || !can_replace(target, found->second)) {
      throw Error("optimizer state: " + name + " is missing or has another shape or type");
    }
    target.copy_(found->second);
  };
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    load(first_moments_[index], fmt::format("{}.first", index));
    load(second_moments_[index], fmt::format("{}.second", index));
    load(steps_[index], fmt::format("{}.steps", index));
    if (!(second_moments_[index] >= 0).all().item<bool>() || !(steps_[index] >= 0).item<bool>()) {
      throw Error(fmt::format("optimizer state: {}: moments or steps below 0", index));
    }
  }
}

}  // namespace anesi

#include "anesi/perception/lenet.h"

#include "anesi/perception/pooled_relu.h"

namespace anesi {

LeNet::LeNet(std::int64_t classes)
    : features_(register_module(
          "features", torch::nn::Sequential(torch::nn::Conv2d(1, 6, 5), torch::nn::Functional(pooled_relu),
                                            torch::nn::Conv2d(6, 16, 5), torch::nn::Functional(pooled_relu)))),
      classifier_(register_module("classifier", torch::nn::Sequential(torch::nn::Linear(256, 120), torch::nn::ReLU(),
                                                                      torch::nn::Linear(120, 84), torch::nn::ReLU(),
                                                                      torch::nn::Linear(84, classes)))) {
  // Channels last is the layout that the convolutions of the CPU run fastest in.
  for (auto& parameter : features_->parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
  }
}

torch::Tensor LeNet::forward(const torch::Tensor& inputs) {
  const auto images = inputs.reshape({-1, 1, 28, 28}).contiguous(torch::MemoryFormat::ChannelsLast);
  const auto logits = classifier_->forward(features_->forward(images).flatten(1));  // [batch * variables, classes]
  return logits.softmax(1).view({inputs.size(0), inputs.size(1), -1});
}

}  // namespace anesi

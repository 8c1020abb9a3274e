#include "anesi/perception/tile_cnn.h"

#include "anesi/perception/pooled_relu.h"

namespace anesi {

TileCnn::TileCnn(std::int64_t classes)
    : convolution_(register_module("convolution", torch::nn::Conv2d(3, 6, 5))),
      classifier_(register_module("classifier", torch::nn::Sequential(torch::nn::Linear(24, 84), torch::nn::ReLU(),
                                                                      torch::nn::Linear(84, classes)))) {}

torch::Tensor TileCnn::features(const torch::Tensor& inputs) {
  // Maps are dark: in bytes their mean is about 76 and their deviation 51.
  const auto pixels = inputs.reshape({-1, 3, 8, 8}) * (127.5 / 51) + (127.5 - 76) / 51;
  return pooled_relu(convolution_->forward(pixels)).view({inputs.size(0), inputs.size(1), -1});
}

torch::Tensor TileCnn::forward(const torch::Tensor& inputs) {
  return classifier_->forward(features(inputs)).softmax(2);
}

}  // namespace anesi

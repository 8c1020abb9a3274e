// ResNet18 (He et al., 2016), for images of any size and number of channels.
#pragma once

#include <torch/torch.h>

namespace anesi {

class ResNet18Impl : public torch::nn::Module {
 public:
  // `width` is how many channels the first of its four stages has; each of the others has twice as many as the one
  // before. He et al. have 64.
  ResNet18Impl(std::int64_t channels, std::int64_t outputs, std::int64_t width = 64);

  torch::Tensor forward(const torch::Tensor& images);  // [n, channels, height, width] -> [n, outputs]

 private:
  torch::nn::Sequential layers_{nullptr};
  torch::nn::Linear head_{nullptr};
};
TORCH_MODULE(ResNet18);

}  // namespace anesi

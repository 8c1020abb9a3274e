#include "anesi/models/resnet18.h"

#include "anesi/models/convolve.h"

namespace anesi {
namespace {

torch::nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t size, std::int64_t stride) {
  torch::nn::Conv2d made(torch::nn::Conv2dOptions(from, to, size).stride(stride).padding(size / 2).bias(false));
  const torch::NoGradGuard no_gradients;
  torch::nn::init::kaiming_normal_(made->weight, 0, torch::kFanOut, torch::kReLU);
  return made;
}

// Two convolutions and a way around them.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(std::int64_t from, std::int64_t to, std::int64_t stride)
      : first_(register_module("first", convolution(from, to, 3, stride))),
        second_(register_module("second", convolution(to, to, 3, 1))),
        first_norm_(register_module("first_norm", torch::nn::BatchNorm2d(to))),
        second_norm_(register_module("second_norm", torch::nn::BatchNorm2d(to))) {
    if (from == to && stride == 1) return;
    around_ = register_module("around", convolution(from, to, 1, stride));
    around_norm_ = register_module("around_norm", torch::nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& values) {
    const auto through = second_norm_(convolve(second_, first_norm_(convolve(first_, values)).relu_()));
    return (through + (around_ ? around_norm_(convolve(around_, values)) : values)).relu_();
  }

 private:
  torch::nn::Conv2d first_, second_, around_{nullptr};
  torch::nn::BatchNorm2d first_norm_, second_norm_, around_norm_{nullptr};
};
TORCH_MODULE(Block);

}  // namespace

ResNet18Impl::ResNet18Impl(std::int64_t channels, std::int64_t outputs, std::int64_t width) {
  layers_ = register_module("layers", torch::nn::Sequential());
  layers_->push_back(convolution(channels, width, 7, 2));
  layers_->push_back(torch::nn::BatchNorm2d(width));
  layers_->push_back(torch::nn::ReLU());
  layers_->push_back(torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)));
  auto from = width;
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    const auto to = width << stage;
    layers_->push_back(Block(from, to, stage == 0 ? 1 : 2));
    layers_->push_back(Block(to, to, 1));
    from = to;
  }
  head_ = register_module("head", torch::nn::Linear(from, outputs));
}

torch::Tensor ResNet18Impl::forward(const torch::Tensor& images) {
  return head_(layers_->forward(images.contiguous(at::MemoryFormat::ChannelsLast)).mean({2, 3}));
}

}  // namespace anesi

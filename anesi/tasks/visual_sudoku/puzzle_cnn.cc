#include "anesi/tasks/visual_sudoku/puzzle_cnn.h"

namespace anesi {
namespace {

torch::nn::Conv2d convolution(std::int64_t from, std::int64_t to) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).padding(1));
}

}  // namespace

PuzzleCnn::PuzzleCnn(std::int64_t size)
    : size_(size),
      features_(register_module(
          "features", torch::nn::Sequential(convolution(1, 16), torch::nn::ReLU(), torch::nn::MaxPool2d(2),
                                            convolution(16, 32), torch::nn::ReLU(), torch::nn::MaxPool2d(2),
                                            convolution(32, 32), torch::nn::ReLU(), torch::nn::MaxPool2d(7)))),
      classifier_(register_module("classifier", torch::nn::Sequential(torch::nn::Linear(32 * size * size, 256),
                                                                      torch::nn::ReLU(), torch::nn::Linear(256, 256),
                                                                      torch::nn::ReLU(), torch::nn::Linear(256, 2)))) {}

torch::Tensor PuzzleCnn::forward(const torch::Tensor& inputs) {
  const auto batch = inputs.size(0);
  const auto whole = inputs.reshape({batch, size_, size_, 28, 28})
                         .permute({0, 1, 3, 2, 4})
                         .reshape({batch, 1, size_ * 28, size_ * 28})
                         .contiguous(torch::MemoryFormat::ChannelsLast);
  return classifier_->forward(features_->forward(whole).flatten(1)).softmax(1).unsqueeze(1);
}

}  // namespace anesi

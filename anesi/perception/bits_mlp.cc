#include "anesi/perception/bits_mlp.h"

namespace anesi {

BitsMlp::BitsMlp(std::int64_t inputs, std::int64_t variables, const BitsMlpOptions& options,
                 std::vector<std::int64_t> told_columns)
    : told_columns_(torch::tensor(told_columns, torch::kInt64)) {
  torch::nn::Sequential network;
  auto width = inputs;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    network->push_back(torch::nn::Linear(width, options.width));
    network->push_back(torch::nn::ReLU());
    if (options.dropout > 0) network->push_back(torch::nn::Dropout(options.dropout));
    width = options.width;
  }
  network->push_back(torch::nn::Linear(width, variables));
  network_ = register_module("network", network);
}

torch::Tensor BitsMlp::forward(const torch::Tensor& inputs) {
  const auto logits = network_->forward(inputs);
  const auto beliefs = torch::stack({torch::zeros_like(logits), logits}, 2).softmax(2);
  if (told_columns_.size(0) == 0) return beliefs;
  const auto told = inputs.index_select(1, told_columns_);
  return torch::cat({torch::stack({1 - told, told}, 2), beliefs}, 1);
}

}  // namespace anesi

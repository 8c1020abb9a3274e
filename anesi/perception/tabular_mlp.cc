#include "anesi/perception/tabular_mlp.h"

#include <algorithm>
#include <limits>

#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// A variable of two values takes one logit, its second value's.
std::int64_t logits_of(std::int64_t domain) { return domain == 2 ? 1 : domain; }

// Softmax over the last dimension. What it rounds to nothing is the smallest share there is: a network that is very
// sure rules nothing out, or its beliefs could contradict a constraint.
torch::Tensor likely(const torch::Tensor& logits) {
  return logits.softmax(-1).clamp_min(std::numeric_limits<float>::min());
}

}  // namespace

TabularMlp::TabularMlp(std::int64_t inputs, const Space& seen, const TabularMlpOptions& options,
                       const std::vector<std::int64_t>& told_columns)
    : seen_(seen), doubt_(options.doubt), told_columns_(torch::tensor(told_columns, torch::kInt64)) {
  torch::nn::Sequential network;
  auto width = inputs;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    network->push_back(torch::nn::Linear(width, options.width));
    network->push_back(torch::nn::ReLU());
    if (options.dropout > 0) network->push_back(torch::nn::Dropout(options.dropout));
    width = options.width;
  }
  std::int64_t logits = 0;
  for (const auto domain : seen.domains()) logits += logits_of(domain);
  network->push_back(torch::nn::Linear(width, logits));
  network_ = register_module("network", network);
}

torch::Tensor TabularMlp::forward(const torch::Tensor& inputs) {
  const auto logits = network_->forward(inputs);
  const auto largest = std::max<std::int64_t>(seen_.largest_domain(), told_columns_.size(0) > 0 ? 2 : 1);
  const auto padded = [&](const torch::Tensor& values, double value) {
    return torch::constant_pad_nd(values, {0, largest - values.size(-1)}, value);
  };
  torch::Tensor beliefs;
  if (seen_.largest_domain() == 2 && seen_.all_domains_equal()) {
    beliefs = likely(torch::stack({torch::zeros_like(logits), logits}, 2));
  } else {
    std::vector<torch::Tensor> rows;
    std::int64_t begin = 0;
    for (const auto domain : seen_.domains()) {
      auto own = logits.slice(1, begin, begin + logits_of(domain));
      if (domain == 2) own = torch::cat({torch::zeros_like(own), own}, 1);
      rows.push_back(padded(likely(own), 0));
      begin += logits_of(domain);
    }
    beliefs = torch::stack(rows, 1);
  }
  if (doubt_ > 0) beliefs = (1 - doubt_) * beliefs + doubt_ * padded(uniform_beliefs(1, seen_), 0);
  if (told_columns_.size(0) == 0) return beliefs;
  const auto told = inputs.index_select(1, told_columns_);
  return torch::cat({padded(torch::stack({1 - told, told}, 2), 0), beliefs}, 1);
}

}  // namespace anesi

// What looks at inputs: a network from inputs to beliefs.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>

namespace anesi {

// In evaluation mode it may be asked from several threads at once, so it keeps nothing between calls.
class Perception : public torch::nn::Module {
 public:
  // [batch, …] -> beliefs [batch, variables, largest domain], rows summing to one.
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;

  // What its last layers are told of each variable, [batch, variables, features]. Buys explanations of labels by kinds
  // of variables that look alike. Default: it does not say (undefined).
  virtual torch::Tensor features(const torch::Tensor& /*inputs*/) { return {}; }

  // Whether each variable has its own slice of the input, [batch, variables, …], and its belief depends on that alone.
  // Variables of many examples can then be mixed in one batch, [rows, 1, …].
  virtual bool separable() const { return false; }
};

// Makes a fresh one, untrained, its weights from torch's generator.
using MakePerception = std::function<std::shared_ptr<Perception>()>;

}  // namespace anesi

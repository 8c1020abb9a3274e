// What looks at inputs: a network from inputs to beliefs.
#pragma once

#include <torch/torch.h>

namespace anesi {

class Perception : public torch::nn::Module {
 public:
  // [batch, …] -> beliefs [batch, variables, largest domain], rows summing to one.
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;
};

}  // namespace anesi

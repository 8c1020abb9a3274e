// The digit classifier of DeepProbLog, which the paper uses for every MNIST task.
//
// Each world variable has its own 28x28 image and all share one network: two 5x5 convolutions (6 and 16 channels), each
// followed by max-pooling and a rectifier, then 256-120-84-classes.
#pragma once

#include "anesi/perception/perception.h"

namespace anesi {

class LeNet final : public Perception {
 public:
  explicit LeNet(std::int64_t classes);

  // float [batch, variables, 28, 28] -> [batch, variables, classes]
  torch::Tensor forward(const torch::Tensor& inputs) override;
  bool separable() const override { return true; }

 private:
  torch::nn::Sequential features_, classifier_;
};

}  // namespace anesi

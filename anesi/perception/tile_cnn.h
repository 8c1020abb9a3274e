// The paper's network for Warcraft: what kind of terrain does a tile of 8x8 pixels show?
//
// Each world variable has its own tile and all share one network: a 5x5 convolution with 6 channels, max-pooling, a
// rectifier, then 24-84-classes (appendix I.3).
#pragma once

#include "anesi/perception/perception.h"

namespace anesi {

class TileCnn final : public Perception {
 public:
  explicit TileCnn(std::int64_t classes);

  // float [batch, variables, 3, 8, 8] -> [batch, variables, classes]
  torch::Tensor forward(const torch::Tensor& inputs) override;
  torch::Tensor features(const torch::Tensor& inputs) override;
  bool separable() const override { return true; }

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::Sequential classifier_;
};

}  // namespace anesi

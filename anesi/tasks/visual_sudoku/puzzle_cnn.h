// A baseline without knowledge: a convolutional network that looks at a whole puzzle and says whether it is valid.
#pragma once

#include "anesi/perception/perception.h"

namespace anesi {

class PuzzleCnn final : public Perception {
 public:
  // `size` cells a side.
  explicit PuzzleCnn(std::int64_t size);

  // float [batch, cells, 28, 28] -> the belief in one variable of two values, [batch, 1, 2].
  torch::Tensor forward(const torch::Tensor& inputs) override;

 private:
  std::int64_t size_;
  torch::nn::Sequential features_, classifier_;
};

}  // namespace anesi

// A baseline without knowledge: a ResNet18 that looks at a whole map and says of each cell whether the path crosses it.
#pragma once

#include "anesi/models/resnet18.h"
#include "anesi/perception/perception.h"

namespace anesi {

class MapResNet final : public Perception {
 public:
  explicit MapResNet(std::int64_t side);

  // float [batch, cells, 3, 8, 8] -> [batch, cells, 2]
  torch::Tensor forward(const torch::Tensor& inputs) override;

 private:
  std::int64_t side_;
  ResNet18 network_{nullptr};
};

}  // namespace anesi

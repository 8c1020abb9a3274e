// A baseline without knowledge: a ResNet18 that looks at a whole map and says of each cell whether the path crosses it.
#pragma once

#include "anesi/core/grid_walk.h"
#include "anesi/core/problem.h"
#include "anesi/models/resnet18.h"
#include "anesi/perception/perception.h"
#include "anesi/tensors/image_examples.h"

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

// The knowledge of such a network: none. The output is the world, one mark a cell.
std::shared_ptr<const Problem> path_marks(std::int64_t side);

// The same maps, with the cells of each path for outputs and worlds.
std::shared_ptr<const Examples> marked_paths(const ImageExamples& maps, const GridWalk& walk);

}  // namespace anesi

#include "anesi/tasks/warcraft/map_resnet.h"

#include "anesi/data/terrain.h"

namespace anesi {

MapResNet::MapResNet(std::int64_t side)
    : side_(side), network_(register_module("network", ResNet18(3, 2 * side * side))) {}

torch::Tensor MapResNet::forward(const torch::Tensor& inputs) {
  const auto batch = inputs.size(0), pixels = side_ * kTilePixels;
  const auto maps = inputs.view({batch, side_, side_, 3, kTilePixels, kTilePixels})
                        .permute({0, 3, 1, 4, 2, 5})
                        .reshape({batch, 3, pixels, pixels});
  return network_(maps).view({batch, side_ * side_, 2}).softmax(2);
}

}  // namespace anesi

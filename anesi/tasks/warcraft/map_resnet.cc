#include "anesi/tasks/warcraft/map_resnet.h"

#include "anesi/tasks/warcraft/terrain.h"

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

std::shared_ptr<const Automaton> PathMarks::automaton() const {
  std::vector<ReadingStep> steps;
  for (std::int64_t cell = 0; cell < marks_.variables(); ++cell) steps.push_back({{cell}, cell, 0});
  return std::make_shared<Automaton>(ReadingOrder(marks_, marks_, std::move(steps)), 1, 0,
                                     [](std::int64_t, Values read, std::int64_t) {
                                       return Automaton::Move{read[0], 0};
                                     });
}

Dataset marked_paths(Dataset maps, const GridWalk& walk) {
  auto marks = torch::zeros({maps.size(), walk.cells()}, torch::kInt64);
  const auto paths = maps.outputs.contiguous();
  for (std::int64_t row = 0; row < maps.size(); ++row) {
    const auto* const steps = paths.const_data_ptr<std::int64_t>() + row * paths.size(1);
    auto* const on_path = marks.mutable_data_ptr<std::int64_t>() + row * walk.cells();
    auto cell = walk.start;
    on_path[cell] = 1;
    for (std::int64_t step = 0; step < paths.size(1) && steps[step] != kNone; ++step) {
      cell = walk.step(cell, steps[step]);
      on_path[cell] = 1;
    }
  }
  maps.outputs = maps.worlds = marks;
  return maps;
}

}  // namespace anesi

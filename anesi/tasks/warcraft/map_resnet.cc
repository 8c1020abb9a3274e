#include "anesi/tasks/warcraft/map_resnet.h"

#include <algorithm>

#include "anesi/data/terrain.h"
#include "anesi/exact/automaton.h"
#include "anesi/tensors/rows.h"

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

std::shared_ptr<const Problem> path_marks(std::int64_t side) {
  const auto marks = Space::uniform(side * side, 2);
  std::vector<ReadingStep> steps;
  for (std::int64_t cell = 0; cell < marks.variables(); ++cell) steps.push_back({{cell}, cell, 0});
  return with(
      make_problem(marks, marks, [](Values world, MutableValues output) { std::ranges::copy(world, output.begin()); }),
      Automaton(ReadingOrder(marks, marks, std::move(steps)), 1, 0, [](std::int64_t, Values read, std::int64_t) {
        return Automaton::Move{read[0], 0};
      }));
}

std::shared_ptr<const Examples> marked_paths(const ImageExamples& maps, const GridWalk& walk) {
  auto marks = torch::zeros({maps.size(), walk.cells()}, torch::kInt64);
  const auto paths = maps.labels().outputs.contiguous();
  for (std::int64_t row = 0; row < maps.size(); ++row) {
    auto* const on_path = marks.mutable_data_ptr<std::int64_t>() + row * walk.cells();
    auto cell = walk.start;
    on_path[cell] = 1;
    for (const auto direction : row_of(paths, row)) {
      if (direction == kNone) break;
      cell = walk.step(cell, direction);
      on_path[cell] = 1;
    }
  }
  return std::make_shared<ImageExamples>(maps.pool(), maps.index(), marks, marks);
}

}  // namespace anesi

// A baseline without knowledge: a ResNet18 that looks at a whole map and says of each cell whether the path crosses it.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/data/dataset.h"
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

// The knowledge of such a network: none. The output is the world, one mark a cell.
class PathMarks final : public Problem {
 public:
  explicit PathMarks(std::int64_t side) : marks_(Space::uniform(side * side, 2)) {}

  const Space& worlds() const override { return marks_; }
  const Space& outputs() const override { return marks_; }
  void apply(Values world, MutableValues output) const override {
    std::copy(world.begin(), world.end(), output.begin());
  }
  std::shared_ptr<const Automaton> automaton() const override;

 private:
  Space marks_;
};

// The same maps, with the cells of each path for outputs and worlds.
Dataset marked_paths(Dataset maps, const GridWalk& walk);

}  // namespace anesi

// The paper's q for walks over a grid: a ResNet18 that sees the beliefs as an image and where the walk stands, and says
// in which direction it goes on (appendix I.3).
//
// It looks once for each step, where `grid` looks once for a whole walk, and it is not told the ends of the walk: it
// plans only between those of the problem. A step off the grid has no probability; that no cell is visited twice is
// left to a pruner.
#pragma once

#include "anesi/core/grid_walk.h"
#include "anesi/core/problem.h"
#include "anesi/models/resnet18.h"
#include "anesi/models/sequence_model.h"
#include "anesi/models/walk_steps.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct ResNetOptions {
  std::int64_t width = 64;

  void describe(OptionTable& table) {
    table.add("width", width, {1, 4096}, "channels of the first stage; each stage has twice as many as the one before");
  }
};

class ResNetWalk final : public SequenceModel {
 public:
  // Throws UsageError where the problem's outputs are not walks, or the world tells their ends.
  ResNetWalk(const Problem& problem, const ResNetOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

  // Log-probabilities of the next direction, [n, 8], where row i of the beliefs [n, cells, domain] stands at cell i,
  // int64 [n].
  torch::Tensor directions(const torch::Tensor& beliefs, const torch::Tensor& cells);

 private:
  // The beliefs in the cells. Throws UsageError where there are beliefs in the ends of walks besides.
  SeenGrid seen(const torch::Tensor& beliefs) const;

  GridWalk walk_;
  std::int64_t values_ = 0;  // of a cell
  ResNet18 network_{nullptr};
};

}  // namespace anesi

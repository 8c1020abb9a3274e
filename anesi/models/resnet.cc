#include "anesi/models/resnet.h"

#include <algorithm>
#include <bit>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"
#include "anesi/models/walk_steps.h"

namespace anesi {
namespace {

class ResNetRollout final : public Rollout {
 public:
  ResNetRollout(ResNetWalk& model, torch::Tensor beliefs, const GridWalk& walk)
      : model_(model),
        beliefs_(std::move(beliefs)),
        around_(cells_around(walk.side).to(beliefs_.device())),
        cell_(torch::full({beliefs_.size(0)}, walk.start, around_.options())),
        goal_(walk.goal) {}

  torch::Tensor next_log_probs() override { return model_.directions(beliefs_, cell_); }

  void advance(const torch::Tensor& values) override {
    const auto next = around_.index({cell_, values.clamp_min(0)});
    cell_ = torch::where((values == kNone).logical_or(next == kNone), cell_, next);
  }

  void select(const torch::Tensor& rows) override {
    beliefs_ = beliefs_.index_select(0, rows);
    cell_ = cell_.index_select(0, rows);
  }

  torch::Tensor ended() const override { return cell_ == goal_; }

 private:
  ResNetWalk& model_;
  torch::Tensor beliefs_, around_;
  torch::Tensor cell_;  // int64 [rows]
  std::int64_t goal_;
};

// A number of rows that is at least as large, by an eighth at most, and one of few. Convolutions are prepared anew for
// every number of rows, which costs more than the rows; walks have another number of steps every time.
std::int64_t rounded(std::int64_t rows) {
  const auto unit =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows))) / 8);
  return (rows + unit - 1) / unit * unit;
}

}  // namespace

ResNetWalk::ResNetWalk(const Problem& problem, const ResNetOptions& options) : SequenceModel(problem.outputs()) {
  const auto* const walk = problem.facts().find<GridWalk>();
  if (walk == nullptr) throw UsageError("architecture resnet: the outputs of this problem are not walks over a grid");
  if (walk->ends_in_world) throw UsageError("architecture resnet plans between two cells that are always the same");
  walk_ = *walk;
  values_ = problem.worlds().domain(0);
  network_ = register_module("network", ResNet18(values_ + 1, kDirections, options.width));
}

torch::Tensor ResNetWalk::directions(const torch::Tensor& beliefs, const torch::Tensor& cells) {
  const auto count = beliefs.size(0), side = walk_.side;
  const auto here = torch::one_hot(cells, walk_.cells()).to(beliefs.scalar_type()).view({count, 1, side, side});
  const auto maps = beliefs.transpose(1, 2).reshape({count, beliefs.size(2), side, side});
  auto inputs = torch::cat({maps, here}, 1);
  if (const auto rows = rounded(count); rows != count) inputs = torch::cat({inputs, inputs.slice(0, 0, rows - count)});
  const auto off = cells_around(side).to(cells.device()).index_select(0, cells) == kNone;
  return full_precision(network_(inputs).slice(0, 0, count)).masked_fill(off, -INFINITY).log_softmax(1);
}

SeenGrid ResNetWalk::seen(const torch::Tensor& beliefs) const {
  auto grid = seen_grid(beliefs, values_, walk_);
  if (grid.cells.size(1) != beliefs.size(1)) {
    throw UsageError(
        "architecture resnet plans between two cells that are always the same: set q.given=false, and learn from whole "
        "examples");
  }
  return grid;
}

torch::Tensor ResNetWalk::log_prob(const Context& context, const torch::Tensor& values) {
  const auto grid = seen(context.beliefs);
  const auto steps = walk_steps(values, grid.ends, grid.side);
  const auto chosen = directions(grid.cells.index_select(0, steps.rows), steps.cells)
                          .gather(1, steps.directions.unsqueeze(1))
                          .squeeze(1);
  return torch::zeros({context.size()}, chosen.options())
      .index_add(0, steps.rows, chosen)
      .masked_fill(steps.strayed, -INFINITY);
}

std::unique_ptr<Rollout> ResNetWalk::begin(const Context& context) {
  return std::make_unique<ResNetRollout>(*this, seen(context.beliefs).cells, walk_);
}

namespace {

ANESI_ARCHITECTURE("resnet", "the paper's network for walks over a grid: a ResNet18 asked at every step", ResNetOptions,
                   [](const ResNetOptions& options, const Problem& problem, bool explains) -> InferenceModel {
                     if (explains) throw UsageError("architecture resnet only predicts; it cannot explain or prune");
                     return {std::make_shared<ResNetWalk>(problem, options), nullptr};
                   });

}  // namespace
}  // namespace anesi

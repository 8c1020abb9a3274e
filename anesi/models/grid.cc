#include "anesi/models/grid.h"

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"
#include "anesi/models/soft_min_sweeps.h"
#include "anesi/models/walk_steps.h"

namespace anesi {
namespace {

constexpr double kLeastCost = 0.02;
constexpr double kLowestTemperature = 0.004, kHighestTemperature = 2;
constexpr double kWorstDetour = 20;  // a direction that costs this much more is as bad as one that costs more still
constexpr double kDetourScale = 0.3, kHeadScale = 10;

// The next direction at every cell is known from the start; a step only moves.
class WalkRollout final : public Rollout {
 public:
  WalkRollout(torch::Tensor directions, std::int64_t side, const torch::Tensor& ends)
      : directions_(std::move(directions)),
        around_(cells_around(side).to(directions_.device())),
        goal_(ends.select(1, 1).contiguous()),
        cell_(ends.select(1, 0).contiguous()),
        example_(torch::arange(directions_.size(0), around_.options())) {}

  torch::Tensor next_log_probs() override { return directions_.index({example_, cell_}); }

  void advance(const torch::Tensor& values) override {
    const auto next = around_.index({cell_, values.clamp_min(0)});
    // A row that ended stays; so does one that was sent off the grid, which has no probability left.
    cell_ = torch::where((values == kNone).logical_or(next == kNone), cell_, next);
  }

  void select(const torch::Tensor& rows) override {
    cell_ = cell_.index_select(0, rows);
    goal_ = goal_.index_select(0, rows);
    example_ = example_.index_select(0, rows);
  }

  torch::Tensor ended() const override { return cell_ == goal_; }

 private:
  torch::Tensor directions_;  // [examples, cells, 8]
  torch::Tensor around_;
  torch::Tensor goal_, cell_, example_;  // int64 [rows]
};

torch::Tensor evenly(double from, double to, std::int64_t count) {
  return torch::linspace(std::log(from), std::log(to), count);
}

}  // namespace

Grid::Grid(const Problem& problem, const GridOptions& options)
    : SequenceModel(problem.outputs()), values_(problem.worlds().domain(0)), sweeps_(options.sweeps) {
  const auto* const walk = problem.facts().find<GridWalk>();
  if (walk == nullptr) throw UsageError("architecture grid: the outputs of this problem are not walks over a grid");
  walk_ = *walk;
  costs_ = register_module("costs", torch::nn::Sequential(torch::nn::Linear(values_, options.width), torch::nn::ReLU(),
                                                          torch::nn::Linear(options.width, options.maps)));
  head_ = register_module(
      "head", torch::nn::Sequential(torch::nn::Linear(2 * options.maps + values_ + kDirections, options.width),
                                    torch::nn::ReLU(), torch::nn::Linear(options.width, 1)));
  log_temperatures_ = register_parameter("log_temperatures", evenly(0.03, 0.5, options.maps));
  log_scales_ = register_parameter("log_scales", evenly(0.05, 0.5, options.maps));
  log_sharpness_ = register_parameter("log_sharpness",
                                      torch::full({options.maps}, std::log(2.0 / static_cast<double>(options.maps))));
  bias_ = register_parameter("bias", torch::zeros({kDirections}));
}

torch::Tensor Grid::directions(const torch::Tensor& beliefs, const torch::Tensor& goals, const torch::Tensor& rows,
                               const torch::Tensor& cells) {
  const auto batch = beliefs.size(0), size = beliefs.size(1);
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(size))));
  const auto costs = full_precision(torch::softplus(costs_->forward(beliefs))) + kLeastCost;  // [batch, cells, maps]
  const auto maps = costs.size(2);
  const auto temperatures = log_temperatures_.exp().clamp(kLowestTemperature, kHighestTemperature);
  const auto sweeps = static_cast<std::int64_t>(sweeps_ * static_cast<double>(side));
  const auto to_goal = soft_min_sweeps(costs.transpose(1, 2).reshape({batch, maps, side, side}), temperatures, goals,
                                       std::max<std::int64_t>(1, sweeps))
                           .view({batch, maps, size})
                           .transpose(1, 2)
                           .reshape({batch * size, maps});

  const auto around = cells_around(side).to(beliefs.device()).index_select(0, cells);  // [n, 8]
  const auto off = around == kNone;
  const auto places = (rows.unsqueeze(1) * size + around.clamp_min(0)).view(-1);
  const auto ways = to_goal.index_select(0, places).view({cells.size(0), kDirections, maps});
  const auto least = ways.masked_fill(off.unsqueeze(2), INFINITY).amin(1, /*keepdim=*/true);
  const auto detours = (ways - least).clamp(0, kWorstDetour).masked_fill(off.unsqueeze(2), kWorstDetour);
  const auto believed =
      beliefs.reshape({batch * size, -1}).index_select(0, places).view({cells.size(0), kDirections, beliefs.size(2)});
  const auto names = torch::eye(kDirections, beliefs.options()).expand({detours.size(0), -1, -1});
  const auto features =
      torch::cat({detours * kDetourScale, torch::exp(-detours / log_scales_.exp()), believed, names}, 2);
  const auto scores = -(detours * log_sharpness_.exp()).sum(2) +
                      kHeadScale * (full_precision(head_->forward(features)).squeeze(2) + bias_);  // [n, 8]
  const auto refused = torch::log_sigmoid(-scores).masked_fill(off, 0);
  const auto taken = torch::log_sigmoid(scores) + refused.cumsum(1) - refused;
  return taken.masked_fill(off, -INFINITY).log_softmax(1);
}

torch::Tensor Grid::log_prob(const Context& context, const torch::Tensor& values) {
  return log_prob_with_trace(context, values, torch::empty({context.size(), 0}, values.options())).values;
}

Grid::Traced Grid::log_prob_with_trace(const Context& context, const torch::Tensor& values,
                                       const torch::Tensor& trace) {
  const auto batch = context.size();
  const auto seen = seen_grid(context.beliefs, values_, walk_);
  const auto steps = walk_steps(values, seen.ends, seen.side);
  const auto asked = (trace >= 0).nonzero();  // [n, 2]
  const auto of_trace = asked.select(1, 0), cells = asked.select(1, 1);
  const auto chosen = directions(seen.cells, seen.ends.select(1, 1), torch::cat({steps.rows, of_trace}),
                                 torch::cat({steps.cells, cells}))
                          .gather(1, torch::cat({steps.directions, trace.index({of_trace, cells})}).unsqueeze(1))
                          .squeeze(1);
  const auto total = [&](const torch::Tensor& rows, const torch::Tensor& some) {
    return torch::zeros({batch}, chosen.options()).index_add(0, rows, some);
  };
  const auto count = steps.rows.size(0);
  return {total(steps.rows, chosen.slice(0, 0, count)).masked_fill(steps.strayed, -INFINITY),
          total(of_trace, chosen.slice(0, count))};
}

std::unique_ptr<Rollout> Grid::begin(const Context& context) {
  const auto seen = seen_grid(context.beliefs, values_, walk_);
  const auto batch = context.size(), cells = seen.cells.size(1);
  const auto integers = context.beliefs.options().dtype(torch::kInt64);
  const auto all =
      directions(seen.cells, seen.ends.select(1, 1), torch::arange(batch, integers).repeat_interleave(cells),
                 torch::arange(cells, integers).repeat({batch}));
  return std::make_unique<WalkRollout>(all.view({batch, cells, kDirections}), seen.side, seen.ends);
}

namespace {

ANESI_ARCHITECTURE("grid", "a learned planner for walks over a grid", GridOptions,
                   [](const GridOptions& options, const Problem& problem, bool explains) -> InferenceModel {
                     if (explains) throw UsageError("architecture grid only predicts; it cannot explain or prune");
                     return {std::make_shared<Grid>(problem, options), nullptr};
                   });

}  // namespace
}  // namespace anesi

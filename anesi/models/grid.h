// A q for walks over a grid: a planner that is learned.
//
// Each cell's belief becomes a few costs. From each of these maps of costs, soft-min sweeps give what the way from
// every cell to the goal costs (soft_min_sweeps.h). What the eight cells around a cell would then cost, and what is
// believed of them, decides in which direction a walk goes on:
//
//   z(d) = -sum_k a_k dV_k(d) + 10 (network(dV(d), belief at d, d) + b_d),   dV_k(d) = V_k(d) - min V_k
//   q(d) ~ sigmoid(z(d)) product over directions e before d of (1 - sigmoid(z(e)))
//
// The second line takes the first direction that is good enough, as a solver that scans directions in order does, so
// ties need no large numbers. One pass gives the next direction at every cell, so a whole walk's probability costs one
// pass. The weights are those of one cell: the same network plans on grids of every size, between any two cells, where
// the world tells them (GridWalk).
#pragma once

#include "anesi/core/grid_walk.h"
#include "anesi/core/problem.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct GridOptions {
  std::int64_t maps = 4, width = 32;
  double sweeps = 2.2;

  void describe(OptionTable& table) {
    table.add("maps", maps, {1, 64}, "maps of costs, each with its own temperature");
    table.add("width", width, {1, 10000}, "hidden units of the networks for costs and for directions");
    table.add("sweeps", sweeps, {0.5, 100}, "how often costs spread by a cell, in multiples of the grid's side");
  }
};

class Grid final : public SequenceModel {
 public:
  // Throws UsageError where the problem's outputs are not walks.
  Grid(const Problem& problem, const GridOptions& options);

  // A walk that is cut short by the end of its space has the probability of its steps; one that leaves the grid, ends
  // elsewhere than at the goal or goes on from there has none.
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;
  // A trace is the directions at single cells, int64 [batch, cells].
  Traced log_prob_with_trace(const Context& context, const torch::Tensor& values, const torch::Tensor& trace) override;

  // Log-probabilities of the next direction at some cells, [n, 8], -inf for a step off the grid.
  //   beliefs [batch, cells, domain];  goals int64 [batch];  rows, cells int64 [n]: each a row of the batch and a cell
  torch::Tensor directions(const torch::Tensor& beliefs, const torch::Tensor& goals, const torch::Tensor& rows,
                           const torch::Tensor& cells);

 private:
  GridWalk walk_;
  std::int64_t values_;  // of a cell
  double sweeps_;
  torch::nn::Sequential costs_{nullptr}, head_{nullptr};
  torch::Tensor log_temperatures_, log_sharpness_, log_scales_;  // [maps]
  torch::Tensor bias_;                                           // [8]
};

}  // namespace anesi

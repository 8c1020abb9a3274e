// The cost from every cell of a grid to a goal, softly: the Bellman recurrence that a planning network learns through.
//
//   V(cell) <- cost(cell) - t log sum over the cells around it of exp(-V(around) / t),   V(goal) = 0
//
// from kFar everywhere but at the goal, so many times over. A temperature t near zero gives the shortest paths; a
// higher one lets gradients flow to the paths not taken. Sweeping is all that such a network spends its time on, so it
// is written by hand: sixteen maps side by side in one vector register, forward and backward, linear in cells times
// sweeps. Runs on the CPU, wherever the costs are, in 32 bits.
#pragma once

#include <torch/torch.h>

namespace anesi {

inline constexpr float kFar = 1000;

// V after the sweeps, [batch, maps, side, side].
//   costs  [batch, maps, side, side], positive;  temperatures  [maps], positive;  goals  int64 [batch], cells
// Differentiable once in costs and temperatures.
torch::Tensor soft_min_sweeps(const torch::Tensor& costs, const torch::Tensor& temperatures, const torch::Tensor& goals,
                              std::int64_t sweeps);

}  // namespace anesi

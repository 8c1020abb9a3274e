// Functions to compare estimators of gradients on, each with its exact expectation.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "anesi/estimate/black_box.h"
#include "anesi/estimate/draws.h"

namespace anesi {

// What is optimised are `numbers`, free to be anything: the log-odds of each variable's value 1, or means and logs of
// deviations. Gradients are by these.
struct GradientProblem {
  std::string name;
  Sources sources;
  Outcomes g;
  bool maximised = true;
  torch::Tensor start;                                               // double [numbers]
  std::function<torch::Tensor(const Parameters& parameters)> exact;  // E[g], double [batch], differentiable

  Parameters parameters_of(const torch::Tensor& numbers) const;
};

// (b - 0.499)^2 of one Bernoulli, made small (Tucker et al., 2017).
GradientProblem shifted_square();
// The number of satisfied clauses of a random 3-CNF, made large.
GradientProblem random_max_sat(int variables, int clauses, std::uint64_t seed);
// The length of the shortest path over a grid whose cells cost 1 or 5, from corner to corner, in four directions, made
// small. The log-odds are of the cost 5.
GradientProblem grid_path_length(int side);
// Whether a normal lies above 1, made likely.
GradientProblem gaussian_step();

// Those that `anesi bench gradients` compares on: each as above, of 20 variables and 91 clauses, and of 5x5 cells.
// Exact expectations of the grid need all 2^25 of them solved once, half a minute or so.
std::vector<GradientProblem> gradient_problems();

}  // namespace anesi

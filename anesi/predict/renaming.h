// Accuracy of worlds, also where the names of their values are perception's own choice.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/core/values_are_names.h"

namespace anesi {

// The share of variables that are right, of those whose truth is known (not kUnset); NaN where none is. With `names`,
// under the renaming of values that makes most of them right. Both int64 [examples, variables].
double share_right(const torch::Tensor& worlds, const torch::Tensor& truth, bool names);

// The new name of each value, by which most values of `worlds` agree with `truth`.
std::vector<std::int64_t> best_renaming(const torch::Tensor& worlds, const torch::Tensor& truth, std::int64_t values);

// A permutation p of the columns that maximises the sum of gain[i][p[i]] of a square matrix: the assignment problem, by
// the Hungarian method with potentials, cubic in its size.
std::vector<std::size_t> best_assignment(const std::vector<std::vector<double>>& gain);

}  // namespace anesi

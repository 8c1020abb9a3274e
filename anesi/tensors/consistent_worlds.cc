#include "anesi/tensors/consistent_worlds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"

namespace anesi {

ConsistentWorlds most_probable_worlds(const Problem& problem, const torch::Tensor& beliefs,
                                      const torch::Tensor& outputs, const SearchLimits& limits) {
  const torch::NoGradGuard no_gradients;
  check_beliefs(beliefs, problem.worlds());
  if (outputs.dim() != 2 || outputs.scalar_type() != torch::kInt64) {
    throw Error(fmt::format("outputs: shape ({}), expected ({}, {}) of int64", fmt::join(outputs.sizes(), ", "),
                            beliefs.size(0), problem.outputs().variables()));
  }
  const auto logs = beliefs.to(torch::kCPU, torch::kFloat64).log().contiguous();
  const auto wanted = outputs.to(torch::kCPU).contiguous();
  const auto found = most_probable_worlds(
      problem, {{logs.const_data_ptr<double>(), logs.size(0), logs.size(1), logs.size(2)}, rows_of(wanted)}, limits);
  const auto batch = logs.size(0);
  ConsistentWorlds result{torch::full({batch, logs.size(1)}, kUnset, torch::kInt64),
                          torch::empty({batch}, torch::kFloat64), torch::empty({batch}, torch::kInt64),
                          torch::empty({batch}, torch::kBool)};
  const auto worlds = mutable_rows_of(result.worlds);
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto& of_row = found[static_cast<std::size_t>(row)];
    std::ranges::copy(of_row.world, worlds[row].begin());
    result.gap.mutable_data_ptr<double>()[row] = of_row.gap;
    result.nodes.mutable_data_ptr<std::int64_t>()[row] = of_row.nodes;
    result.proven.mutable_data_ptr<bool>()[row] = of_row.proven;
  }
  for (auto* tensor : {&result.worlds, &result.gap, &result.nodes, &result.proven})
    *tensor = tensor->to(beliefs.device());
  return result;
}

}  // namespace anesi

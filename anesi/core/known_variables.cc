#include "anesi/core/known_variables.h"

#include <algorithm>

namespace anesi {
namespace {

torch::Tensor index_of(const std::vector<std::int64_t>& variables, const torch::Tensor& like) {
  return torch::tensor(variables, torch::kInt64).to(like.device());
}

}  // namespace

std::vector<std::int64_t> KnownVariables::others(const Space& worlds) const {
  std::vector<std::int64_t> left;
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    if (std::ranges::find(variables, variable) == variables.end()) left.push_back(variable);
  }
  return left;
}

Space KnownVariables::space_of_others(const Space& worlds) const {
  std::vector<std::int64_t> domains;
  for (const auto variable : others(worlds)) domains.push_back(worlds.domain(variable));
  return Space(std::move(domains));
}

torch::Tensor KnownVariables::complete_beliefs(const torch::Tensor& of_others, const torch::Tensor& values,
                                               const Space& worlds) const {
  const auto width = worlds.largest_domain();
  const auto certain = torch::one_hot(values, width).to(of_others.options());
  const auto padded = torch::constant_pad_nd(of_others, {0, width - of_others.size(2)});
  return torch::zeros({of_others.size(0), worlds.variables(), width}, of_others.options())
      .index_copy(1, index_of(variables, of_others), certain)
      .index_copy(1, index_of(others(worlds), of_others), padded);
}

torch::Tensor KnownVariables::complete_worlds(const torch::Tensor& of_others, const torch::Tensor& values,
                                              const Space& worlds) const {
  return torch::empty({of_others.size(0), worlds.variables()}, of_others.options())
      .index_copy_(1, index_of(variables, of_others), values)
      .index_copy_(1, index_of(others(worlds), of_others), of_others);
}

torch::Tensor KnownVariables::beliefs_in_others(const torch::Tensor& beliefs, const Space& worlds) const {
  return beliefs.index_select(1, index_of(others(worlds), beliefs))
      .slice(2, 0, space_of_others(worlds).largest_domain());
}

Space perceived_space(const Problem& problem) {
  const auto* const known = problem.facts().find<KnownVariables>();
  return known == nullptr ? problem.worlds() : known->space_of_others(problem.worlds());
}

}  // namespace anesi

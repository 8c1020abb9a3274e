#include "anesi/core/known_variables.h"

#include <algorithm>

namespace anesi {

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

Space perceived_space(const Problem& problem) {
  const auto* const known = problem.facts().find<KnownVariables>();
  return known == nullptr ? problem.worlds() : known->space_of_others(problem.worlds());
}

}  // namespace anesi

#include "anesi/formula/weighted_beliefs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

#include "anesi/exact/backend.h"

namespace anesi {

WeightedBeliefs weighted_beliefs(const Encoding& encoding, const Space& worlds, const Dimacs& formula) {
  const auto log_weight = [&](int literal) {
    const auto found = formula.weights.find(literal);
    return found == formula.weights.end() ? 0 : std::log(found->second);
  };
  WeightedBeliefs result{Matrix<double>(worlds.variables(), worlds.largest_domain())};
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto& literals = encoding.worlds[static_cast<std::size_t>(variable)];
    std::vector<double> logs;
    for (const auto literal : literals) {
      logs.push_back(log_weight(literal));
      for (const auto other : literals) {
        if (std::abs(other) != std::abs(literal)) logs.back() += log_weight(-other);
      }
    }
    const double sum = log_sum(logs);
    std::ranges::transform(logs, result.beliefs[variable].begin(), [&](double log) { return std::exp(log - sum); });
    result.log_scale += sum;
  }
  return result;
}

bool weighs_hidden(const Encoding& encoding, const Dimacs& formula) {
  std::set<int> of_worlds;
  for (const auto& literals : encoding.worlds) {
    for (const auto literal : literals) of_worlds.insert(std::abs(literal));
  }
  return std::ranges::any_of(formula.weights, [&](const auto& entry) {
    return !of_worlds.contains(std::abs(entry.first)) && entry.second != 1;
  });
}

}  // namespace anesi

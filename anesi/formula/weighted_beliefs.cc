#include "anesi/formula/weighted_beliefs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "anesi/tensors/beliefs.h"

namespace anesi {

WeightedBeliefs weighted_beliefs(const Encoding& encoding, const Space& worlds, const Dimacs& formula) {
  const auto log_weight = [&](int literal) {
    const auto found = formula.weights.find(literal);
    return found == formula.weights.end() ? 0 : std::log(found->second);
  };
  WeightedBeliefs result{uniform_beliefs(1, worlds).to(torch::kFloat64)};
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto& literals = encoding.worlds[static_cast<std::size_t>(variable)];
    auto logs = torch::zeros({worlds.domain(variable)}, torch::kFloat64);
    for (std::size_t value = 0; value < literals.size(); ++value) {
      auto log = log_weight(literals[value]);
      for (const auto other : literals) {
        if (std::abs(other) != std::abs(literals[value])) log += log_weight(-other);
      }
      logs[static_cast<std::int64_t>(value)] = log;
    }
    result.beliefs[0][variable].slice(0, 0, worlds.domain(variable)).copy_(logs.softmax(0));
    result.log_scale += logs.logsumexp(0).item<double>();
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

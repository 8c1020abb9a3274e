#include "anesi/logic/random_formula.h"

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {

Cnf random_formula(int variables, int clauses, int literals, std::mt19937_64& random) {
  if (literals < 1 || literals > variables) throw UsageError("random formula: a clause has from one to all variables");
  // Remainders rather than a distribution of the standard library, which differs from one library to the other.
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  Encoding encoding;
  for (int variable = 1; variable <= variables; ++variable) encoding.worlds.push_back({-variable, variable});
  std::vector<std::vector<int>> all;
  for (int count = 0; count < clauses; ++count) {
    std::vector<int> clause, taken;
    while (static_cast<int>(clause.size()) < literals) {
      const auto variable = 1 + below(variables);
      if (std::ranges::find(taken, variable) != taken.end()) continue;
      taken.push_back(variable);
      clause.push_back(below(2) == 1 ? variable : -variable);
    }
    all.push_back(std::move(clause));
  }
  return {std::move(encoding), variables, std::move(all)};
}

}  // namespace anesi

#include "anesi/logic/violation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace anesi {

double best_violation(const CompiledFormula& formula, const BelievedLogs& logs, std::int64_t* world) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const auto& worlds = formula.encoding.worlds;
  std::vector<std::vector<std::int64_t>> ranked(worlds.size());  // values by falling probability
  struct Candidate {
    double log_prob;
    std::vector<std::int32_t> ranks;
    std::size_t last;  // variables before it stay as they are
    bool operator<(const Candidate& other) const { return log_prob < other.log_prob; }
  };
  Candidate first{0, std::vector<std::int32_t>(worlds.size(), 0), 0};
  const auto log_of = [&](std::size_t variable, std::int32_t rank) {
    return logs(static_cast<std::int64_t>(variable), ranked[variable][static_cast<std::size_t>(rank)]);
  };
  for (std::size_t variable = 0; variable < worlds.size(); ++variable) {
    ranked[variable].resize(worlds[variable].size());
    for (std::size_t value = 0; value < worlds[variable].size(); ++value) {
      ranked[variable][value] = static_cast<std::int64_t>(value);
    }
    std::ranges::sort(ranked[variable], std::greater{},
                      [&](std::int64_t value) { return logs(static_cast<std::int64_t>(variable), value); });
    first.log_prob += log_of(variable, 0);
  }
  std::priority_queue<Candidate> open;
  open.push(std::move(first));
  std::vector<std::int64_t> values(worlds.size());
  for (int tries = 0; tries < kWorldsToViolate && !open.empty(); ++tries) {
    const auto candidate = open.top();
    open.pop();
    if (candidate.log_prob == kNever) break;
    for (std::size_t variable = 0; variable < worlds.size(); ++variable) {
      values[variable] = ranked[variable][static_cast<std::size_t>(candidate.ranks[variable])];
    }
    if (!satisfies(formula, values)) {
      std::ranges::copy(values, world);
      return candidate.log_prob;
    }
    for (auto variable = candidate.last; variable < worlds.size(); ++variable) {
      const auto rank = candidate.ranks[variable];
      if (static_cast<std::size_t>(rank) + 1 >= worlds[variable].size()) continue;
      auto next = candidate;
      next.ranks[variable] = rank + 1;
      next.last = variable;
      next.log_prob += log_of(variable, rank + 1) - log_of(variable, rank);
      open.push(std::move(next));
    }
  }
  return kNever;
}

}  // namespace anesi

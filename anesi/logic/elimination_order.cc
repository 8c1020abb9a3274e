#include "anesi/logic/elimination_order.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <queue>
#include <tuple>

namespace anesi {
namespace {

constexpr int kMostByFill = 3000;                           // variables
constexpr std::int64_t kMostSteps = std::int64_t{1} << 28;  // through lists of neighbours: about a second

class Elimination {
 public:
  Elimination(int variables, const std::vector<std::vector<int>>& clauses, const std::vector<bool>& late)
      : by_fill_(variables <= kMostByFill), late_(late), neighbours_(static_cast<std::size_t>(variables) + 1) {
    for (const auto& clause : clauses) {
      steps_ += static_cast<std::int64_t>(clause.size() * clause.size());
      if (steps_ > kMostSteps) break;
      for (const auto one : clause) {
        for (const auto other : clause) {
          if (std::abs(one) != std::abs(other)) of(std::abs(one)).push_back(std::abs(other));
        }
      }
    }
    for (auto& list : neighbours_) {
      std::ranges::sort(list);
      list.erase(std::ranges::unique(list).begin(), list.end());
    }
  }

  std::vector<double> order() {
    const auto variables = static_cast<int>(neighbours_.size()) - 1;
    std::vector<double> place(neighbours_.size(), 0);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    for (int variable = 1; variable <= variables; ++variable) candidates.push(candidate(variable));
    for (int next = 1; !candidates.empty();) {
      const auto [late, known, variable] = candidates.top();
      candidates.pop();
      if (place[static_cast<std::size_t>(variable)] != 0) continue;
      if (steps_ <= kMostSteps) {
        if (const auto now = candidate(variable); std::get<1>(now) > known) {
          candidates.push(now);
          continue;
        }
        eliminate(variable);
        for (const auto neighbour : of(variable)) candidates.push(candidate(neighbour));
      }
      place[static_cast<std::size_t>(variable)] = next++;
    }
    return place;
  }

 private:
  using Candidate = std::tuple<bool, std::int64_t, int>;  // whether it is decided early, its cost, itself

  std::vector<int>& of(int variable) { return neighbours_[static_cast<std::size_t>(variable)]; }

  Candidate candidate(int variable) { return {!late_[static_cast<std::size_t>(variable)], cost(variable), variable}; }

  std::int64_t cost(int variable) {
    const auto& around = of(variable);
    const auto degree = static_cast<std::int64_t>(around.size());
    if (!by_fill_ || steps_ > kMostSteps) return degree;
    std::int64_t missing = degree * (degree - 1);  // each edge twice
    for (const auto neighbour : around) {
      const auto& theirs = of(neighbour);
      steps_ += static_cast<std::int64_t>(theirs.size()) + degree;
      common_.clear();
      std::ranges::set_intersection(around, theirs, std::back_inserter(common_));
      missing -= static_cast<std::int64_t>(common_.size());
    }
    return missing;
  }

  // Its neighbours become neighbours of each other.
  void eliminate(int variable) {
    const auto& around = of(variable);
    for (const auto neighbour : around) {
      auto& theirs = of(neighbour);
      steps_ += static_cast<std::int64_t>(theirs.size() + around.size());
      common_.clear();
      std::ranges::set_union(around, theirs, std::back_inserter(common_));
      std::erase_if(common_, [&](int other) { return other == variable || other == neighbour; });
      theirs = common_;
    }
  }

  bool by_fill_;
  const std::vector<bool>& late_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<int> common_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::vector<double> elimination_order(int variables, const std::vector<std::vector<int>>& clauses,
                                      const std::vector<bool>& late) {
  return Elimination(variables, clauses, late).order();
}

}  // namespace anesi

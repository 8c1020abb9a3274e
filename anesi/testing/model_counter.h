// A model counter for tests, which shares nothing with libsdd or Circuit.
//
// It decides variables in their order, takes apart what shares no variable and remembers what it counted. So it is
// quick where clauses are local in the variables' order, and slow elsewhere.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace anesi::toys {

class ModelCounter {
 public:
  // Weights by [literal + variables], not logarithms.
  ModelCounter(int variables, std::vector<double> weights) : variables_(variables), weights_(std::move(weights)) {}

  // The sum over models of the product of their literals' weights.
  long double count(const std::vector<std::vector<int>>& clauses) {
    Formula formula;
    for (const auto& clause : clauses) {
      formula.insert(formula.end(), clause.begin(), clause.end());
      formula.push_back(0);
    }
    std::vector<char> named = variables_of(formula);
    long double free = 1;
    for (int variable = 1; variable <= variables_; ++variable) {
      if (named[static_cast<std::size_t>(variable)] == 0) free *= weight(variable) + weight(-variable);
    }
    return free * count_named(formula);
  }

 private:
  using Formula = std::vector<int>;  // clauses, each followed by 0
  struct Hash {
    std::size_t operator()(const Formula& formula) const {
      std::size_t hash = 1;
      for (const auto literal : formula) hash = (hash ^ static_cast<std::size_t>(literal)) * 0x100000001B3U;
      return hash;
    }
  };

  long double weight(int literal) const { return weights_[static_cast<std::size_t>(literal + variables_)]; }

  std::vector<char> variables_of(const Formula& formula) const {
    std::vector<char> named(static_cast<std::size_t>(variables_) + 1, 0);
    for (const auto literal : formula) named[static_cast<std::size_t>(std::abs(literal))] = 1;
    return named;
  }

  // Over the variables that it names.
  long double count_named(const Formula& formula) {
    if (formula.empty()) return 1;
    if (const auto found = known_.find(formula); found != known_.end()) return found->second;
    long double result = 1;
    if (const auto components = components_of(formula); components.size() > 1) {
      for (const auto& component : components) result *= count_named(component);
    } else {
      int first = variables_ + 1;
      for (const auto literal : formula) {
        if (literal != 0) first = std::min(first, std::abs(literal));
      }
      result = first > variables_ ? 0 : count_with(formula, first) + count_with(formula, -first);
    }
    known_.emplace(formula, result);
    return result;
  }

  long double count_with(const Formula& formula, int decided) {
    Formula left;
    for (auto begin = formula.begin(); begin != formula.end();) {
      const auto end = std::find(begin, formula.end(), 0);
      if (std::find(begin, end, decided) == end) {
        const auto size = left.size();
        std::copy_if(begin, end, std::back_inserter(left), [&](int literal) { return literal != -decided; });
        if (left.size() == size) return 0;
        left.push_back(0);
      }
      begin = end + 1;
    }
    auto before = variables_of(formula);
    const auto after = variables_of(left);
    before[static_cast<std::size_t>(std::abs(decided))] = 0;
    long double result = weight(decided);
    for (int variable = 1; variable <= variables_; ++variable) {
      const auto place = static_cast<std::size_t>(variable);
      if (before[place] != 0 && after[place] == 0) result *= weight(variable) + weight(-variable);
    }
    return result * count_named(left);
  }

  std::vector<Formula> components_of(const Formula& formula) const {
    std::vector<int> leader(static_cast<std::size_t>(variables_) + 1);
    for (int variable = 0; variable <= variables_; ++variable) leader[static_cast<std::size_t>(variable)] = variable;
    const auto find = [&](int literal) {
      auto at = std::abs(literal);
      while (leader[static_cast<std::size_t>(at)] != at) {
        auto& next = leader[static_cast<std::size_t>(at)];
        at = next = leader[static_cast<std::size_t>(next)];
      }
      return at;
    };
    for (std::size_t place = 1; place < formula.size(); ++place) {
      if (formula[place] == 0 || formula[place - 1] == 0) continue;
      const auto one = find(formula[place]), other = find(formula[place - 1]);
      leader[static_cast<std::size_t>(one)] = other;
    }
    std::map<int, Formula> components;
    int component = 0;
    for (std::size_t place = 0; place < formula.size(); ++place) {
      if (place == 0 || formula[place - 1] == 0) component = find(formula[place]);
      components[component].push_back(formula[place]);
    }
    std::vector<Formula> result;
    for (auto& [leading, clauses] : components) result.push_back(std::move(clauses));
    return result;
  }

  int variables_;
  std::vector<double> weights_;
  std::unordered_map<Formula, long double, Hash> known_;
};

}  // namespace anesi::toys

// Random factor graphs, with and without loops, and their counts by going through all worlds.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "anesi/core/index.h"
#include "anesi/logic/factor_graph.h"
#include "anesi/testing/oracle.h"
#include "anesi/testing/random_problems.h"

namespace anesi::toys {

// Clauses of one to three variables; without loops, they join only what was not connected before. About half of them
// are soft where `soft`.
inline FactorGraph random_factor_graph(Chances& chances, std::int64_t variables, std::int64_t clauses,
                                       std::int64_t largest_domain, bool loops, bool soft) {
  std::vector<std::int64_t> domains(as_size(variables)), component(as_size(variables));
  for (auto& domain : domains) domain = chances.between(2, largest_domain);
  std::iota(component.begin(), component.end(), 0);
  FactorGraph graph{.worlds = Space(domains), .own_variables = 0, .clauses = {}};
  for (std::int64_t count = 0; count < clauses; ++count) {
    std::vector<std::int64_t> taken;
    for (auto length = chances.between(1, 3); length > 0; --length) {
      const auto variable = chances.between(0, variables - 1);
      const bool joined = std::ranges::any_of(taken, [&](std::int64_t other) {
        return other == variable || (!loops && component[as_size(other)] == component[as_size(variable)]);
      });
      if (!joined) taken.push_back(variable);
    }
    auto& clause = graph.clauses.emplace_back();
    for (const auto variable : taken) {
      std::replace(component.begin(), component.end(), std::int64_t{component[as_size(variable)]},
                   std::int64_t{component[as_size(taken[0])]});
      auto& edge = clause.emplace_back(FactorGraph::Edge{variable, {}});
      const auto domain = domains[as_size(variable)], kept = chances.between(0, domain - 1);
      for (std::int64_t value = 0; value < domain; ++value) {
        if (value != kept && (chances.chance(0.5) || domain == 2)) edge.falsifying.push_back(value);
      }
      if (edge.falsifying.empty()) edge.falsifying.push_back(kept == 0 ? 1 : 0);
    }
    if (soft) graph.weight_of.push_back(chances.chance(0.5) ? graph.weights++ : FactorGraph::kMustHold);
  }
  return graph;
}

// The logarithm of the sum over the worlds that violate no hard clause, of what they weigh.
inline double log_count_of(const FactorGraph& graph, const LogBelief& belief, const std::vector<double>& weights) {
  std::vector<double> logs;
  graph.worlds.for_each_point([&](Values world) {
    if (is_violated(graph, world)) return;
    double log = Oracle::log_prob_of_world(belief, {world.begin(), world.end()});
    for (std::size_t clause = 0; clause < graph.weight_of.size(); ++clause) {
      const auto weight = graph.weight_of[clause];
      if (weight != FactorGraph::kMustHold && !is_violated(graph.clauses[clause], world))
        log += weights[as_size(weight)];
    }
    logs.push_back(log);
  });
  double largest = Oracle::kNever, sum = 0;
  for (const double log : logs) largest = std::max(largest, log);
  if (largest == Oracle::kNever) return largest;
  for (const double log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

}  // namespace anesi::toys

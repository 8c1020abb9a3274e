#include "anesi/exact/message_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/logic/graph_loops.h"

namespace anesi {
namespace {

// Clauses in the order in which a walk from some clause of each component leaves them: in a tree, children first.
std::vector<std::size_t> children_first(const FactorGraph& graph, const std::vector<bool>& is_known) {
  std::vector<std::vector<std::size_t>> clauses_of(is_known.size());
  for (std::size_t place = 0; place < graph.clauses.size(); ++place) {
    for (const auto& edge : graph.clauses[place]) clauses_of[as_size(edge.variable)].push_back(place);
  }
  std::vector<std::size_t> order;  // breadth first, then turned around
  std::vector<bool> found(graph.clauses.size(), false), passed = is_known;
  for (std::size_t root = 0; root < graph.clauses.size(); ++root) {
    if (found[root]) continue;
    found[root] = true;
    order.push_back(root);
    for (auto next = order.size() - 1; next < order.size(); ++next) {
      for (const auto& edge : graph.clauses[order[next]]) {
        const auto variable = as_size(edge.variable);
        if (passed[variable]) continue;
        passed[variable] = true;
        for (const auto clause : clauses_of[variable]) {
          if (found[clause]) continue;
          found[clause] = true;
          order.push_back(clause);
        }
      }
    }
  }
  std::ranges::reverse(order);
  return order;
}

bool fails(const FactorGraph::Edge& edge, std::int64_t value) {
  return std::ranges::find(edge.falsifying, value) != edge.falsifying.end();
}

}  // namespace

MessagePlan::MessagePlan(const FactorGraph& graph, std::vector<std::int64_t> known_variables)
    : known(std::move(known_variables)) {
  const auto variables = graph.worlds.variables() + graph.own_variables;
  const auto domain = [&](std::int64_t variable) {
    return variable < graph.worlds.variables() ? graph.worlds.domain(variable) : 2;
  };
  first.push_back(0);
  for (std::int64_t variable = 0; variable < variables; ++variable) first.push_back(first.back() + domain(variable));
  std::vector<bool> is_known(as_size(variables), false);
  for (const auto variable : known) {
    is_known[as_size(variable)] = true;
    cases *= domain(variable);
  }
  const auto loops = clauses_in_loops(graph, is_known);
  has_loops = std::ranges::find(loops, true) != loops.end();
  for (const auto place : children_first(graph, is_known)) {
    Clause clause{std::ssize(edges), 0, FactorGraph::kMustHold, -1, loops[place]};
    if (!graph.weight_of.empty()) clause.weight = graph.weight_of[place];
    if (graph.clauses[place].empty()) throw UsageError("propagation: a clause without variables");
    for (const auto& edge : graph.clauses[place]) {
      if (edge.falsifying.empty() || std::ssize(edge.falsifying) >= domain(edge.variable)) {
        throw UsageError(fmt::format("propagation: clause {} says nothing of variable {}", place, edge.variable));
      }
      if (is_known[as_size(edge.variable)]) {
        if (clause.decided < 0) {
          clause.decided = std::ssize(satisfied) / cases;
          satisfied.resize(satisfied.size() + as_size(cases), 0);
        }
        const auto position = as_size(std::ranges::find(known, edge.variable) - known.begin());
        for (std::int64_t index = 0; index < cases; ++index) {
          if (!fails(edge, value_in_case(position, index))) satisfied[as_size(clause.decided * cases + index)] = 1;
        }
        continue;
      }
      Edge planned{std::ssize(places), 0, 0};
      const auto begin = first[as_size(edge.variable)];
      for (const auto value : edge.falsifying) places.push_back(begin + value);
      planned.middle = std::ssize(places);
      for (std::int64_t value = 0; value < domain(edge.variable); ++value) {
        if (!fails(edge, value)) places.push_back(begin + value);
      }
      planned.end = std::ssize(places);
      edges.push_back(planned);
    }
    clause.end = std::ssize(edges);
    longest_clause = std::max(longest_clause, clause.end - clause.begin);
    clauses.push_back(clause);
  }
}

std::int64_t MessagePlan::value_in_case(std::size_t place, std::int64_t index) const {
  const auto domain = [&](std::int64_t variable) { return first[as_size(variable) + 1] - first[as_size(variable)]; };
  for (auto last = known.size() - 1; last > place; --last) index /= domain(known[last]);
  return index % domain(known[place]);
}

}  // namespace anesi

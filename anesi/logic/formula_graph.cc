#include "anesi/logic/formula_graph.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

using ClauseList = std::vector<std::vector<int>>;

// Makes the literal true, and whatever follows of variables that are no value of a world. Returns the clauses that are
// left.
ClauseList propagate(ClauseList clauses, int literal, const std::vector<bool>& of_world) {
  std::vector<int> known{literal};
  for (std::size_t next = 0; next < known.size(); ++next) {
    const auto truth = known[next];
    ClauseList left;
    for (auto& clause : clauses) {
      if (std::ranges::find(clause, truth) != clause.end()) continue;
      std::erase(clause, -truth);
      if (clause.empty()) throw UsageError("graph: no world satisfies the problem's formula");
      const bool follows = clause.size() == 1 && !of_world[as_size(std::abs(clause[0]))];
      if (follows) known.push_back(clause[0]);
      left.push_back(std::move(clause));
    }
    clauses = std::move(left);
  }
  return clauses;
}

// What a propositional variable says: that a variable of the graph has a value, or has not.
struct Meaning {
  std::int64_t variable, value;
  bool has;
};

}  // namespace

FactorGraph factor_graph_of(const Cnf& cnf, const Space& worlds) { return factor_graph_of(cnf, worlds, {}); }

FactorGraph factor_graph_of(const Cnf& cnf, const Space& worlds, const std::vector<SoftClause>& soft) {
  const auto& encoding = cnf.encoding();
  std::map<int, Meaning> meanings;  // by propositional variable
  std::vector<bool> of_world(as_size(cnf.variables()) + 1, false);
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    for (std::int64_t value = 0; value < worlds.domain(variable); ++value) {
      const auto literal = encoding.world(variable, value);
      meanings[std::abs(literal)] = {variable, value, literal > 0};
      of_world[as_size(std::abs(literal))] = true;
    }
  }
  auto clauses = cnf.clauses();
  if (!encoding.is_constraint()) {
    if (encoding.outputs.size() != 1 || encoding.outputs[0].size() != 2) {
      throw UsageError(
          "graph: counts the worlds that satisfy a constraint, so the problem must have one output of two values");
    }
    clauses = propagate(std::move(clauses), encoding.output(0, 1), of_world);
  }
  FactorGraph graph{.worlds = worlds, .own_variables = 0, .clauses = {}};
  const auto add = [&](const std::vector<int>& clause, std::int64_t weight) {
    std::map<std::int64_t, std::set<std::int64_t>> satisfying;  // values, by variable
    for (const auto literal : clause) {
      const auto own = Meaning{worlds.variables() + graph.own_variables, 1, true};
      const auto [place, fresh] = meanings.try_emplace(std::abs(literal), own);
      if (fresh) ++graph.own_variables;
      const auto& [variable, value, has] = place->second;
      const auto domain = variable < worlds.variables() ? worlds.domain(variable) : 2;
      auto& values = satisfying[variable];
      for (std::int64_t other = 0; other < domain; ++other) {
        if ((other == value) == (has == (literal > 0))) values.insert(other);
      }
    }
    FactorGraph::Clause edges;
    bool always = false;
    for (const auto& [variable, values] : satisfying) {
      const auto domain = variable < worlds.variables() ? worlds.domain(variable) : 2;
      FactorGraph::Edge edge{.variable = variable, .falsifying = {}};
      for (std::int64_t value = 0; value < domain; ++value) {
        if (!values.contains(value)) edge.falsifying.push_back(value);
      }
      always = always || edge.falsifying.empty();
      if (!values.empty()) edges.push_back(std::move(edge));
    }
    if (always) return;
    if (edges.empty()) throw UsageError("graph: no world satisfies the problem's formula");
    graph.clauses.push_back(std::move(edges));
    if (!soft.empty()) graph.weight_of.push_back(weight);
  };
  for (const auto& clause : clauses) add(clause, FactorGraph::kMustHold);
  for (const auto& [literals, weight] : soft) add(literals, graph.weights++);
  return graph;
}

}  // namespace anesi

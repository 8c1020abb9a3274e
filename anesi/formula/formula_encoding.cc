#include "anesi/formula/formula_encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// Variables that one variable of the encoding stands for, and the literals of its values; none if the formula defines
// them by other variables.
struct Group {
  std::vector<int> members, literals;
};

std::vector<Group> as_they_stand(const std::vector<std::vector<int>>& groups) {
  std::vector<Group> result;
  for (const auto& members : groups) result.push_back({members, members});
  return result;
}

bool has_some_of(const std::vector<int>& group, const std::vector<int>& variables) {
  return std::ranges::find_first_of(group, variables) != group.end();
}

// What is left of a group if inputs tell some of its members: which of the others holds, if none of those does. If one
// does, the values of the variable that is left all say the same. They are variables of their own: a value v of which
// stands for the member r, r = (v and no told member holds). A single member that is left is defined by what is told.
Group what_is_left(const std::vector<int>& group, const std::vector<int>& told, Cnf& cnf) {
  Group left;
  std::vector<int> known;
  for (const auto member : group) {
    (std::ranges::find(told, member) == told.end() ? left.members : known).push_back(member);
  }
  if (left.members.size() < 2) return left;
  for (const auto member : left.members) {
    const auto value = left.literals.emplace_back(cnf.fresh_variable());
    cnf.add({-member, value});
    auto holds = known;
    holds.insert(holds.end(), {-value, member});
    cnf.add(std::move(holds));
  }
  cnf.exactly_one(left.literals);
  return left;
}

// Literals of the values of these variables: groups as one variable each, the others as two values.
Encoding::Literals literals_of(const std::vector<int>& variables, const std::vector<Group>& groups) {
  const std::set<int> wanted(variables.begin(), variables.end());
  Encoding::Literals literals;
  std::set<int> done;
  for (const auto variable : variables) {
    if (done.contains(variable)) continue;
    const auto group = std::ranges::find_if(groups, [&](const Group& of) {
      return std::ranges::find(of.members, variable) != of.members.end() &&
             std::ranges::all_of(of.members, [&](int member) { return wanted.contains(member); });
    });
    if (group == groups.end()) {
      literals.push_back({-variable, variable});
      continue;
    }
    if (!group->literals.empty()) literals.push_back(group->literals);
    done.insert(group->members.begin(), group->members.end());
  }
  return literals;
}

}  // namespace

std::vector<bool> shown_variables(const Dimacs& formula) {
  std::vector<bool> shown(static_cast<std::size_t>(formula.variables) + 1, !formula.has_show);
  for (const auto variable : formula.shown) shown[static_cast<std::size_t>(variable)] = true;
  return shown;
}

std::vector<std::vector<int>> clauses_that_tell(const Dimacs& formula, const std::vector<std::vector<int>>& groups) {
  std::set<std::vector<int>> silent;
  for (const auto& group : groups) {
    silent.insert(group);
    for (std::size_t first = 0; first < group.size(); ++first) {
      for (auto second = first + 1; second < group.size(); ++second) silent.insert({-group[second], -group[first]});
    }
  }
  std::vector<std::vector<int>> telling;
  for (const auto& clause : formula.clauses) {
    auto sorted = clause;
    std::ranges::sort(sorted);
    if (!silent.contains(sorted)) telling.push_back(clause);
  }
  return telling;
}

std::vector<int> world_variables(const std::vector<bool>& shown, const std::vector<int>& told) {
  auto variables = told;
  for (const auto variable : told) {
    if (variable < 1 || static_cast<std::size_t>(variable) >= shown.size() ||
        !shown[static_cast<std::size_t>(variable)]) {
      throw UsageError(fmt::format("given: there is no variable {} that the formula shows", variable));
    }
    if (std::ranges::count(told, variable) > 1) throw UsageError(fmt::format("given: variable {} twice", variable));
  }
  for (int variable = 1; static_cast<std::size_t>(variable) < shown.size(); ++variable) {
    const bool first = std::ranges::find(told, variable) != told.end();
    if (shown[static_cast<std::size_t>(variable)] && !first) variables.push_back(variable);
  }
  return variables;
}

std::vector<std::vector<int>> exactly_one_groups(const Dimacs& formula) {
  std::set<std::pair<int, int>> excluded;  // pairs of which not both hold, the smaller first
  for (const auto& clause : formula.clauses) {
    if (clause.size() == 2 && clause[0] < 0 && clause[1] < 0) {
      excluded.insert(std::minmax(-clause[0], -clause[1]));
    }
  }
  std::vector<std::vector<int>> groups;
  std::set<int> taken;
  for (const auto& clause : formula.clauses) {
    auto members = clause;
    std::ranges::sort(members);
    const bool free =
        std::ranges::all_of(members, [&](int literal) { return literal > 0 && !taken.contains(literal); });
    if (members.size() < 2 || !free) continue;
    bool exclusive = true;
    for (std::size_t first = 0; exclusive && first < members.size(); ++first) {
      for (auto second = first + 1; exclusive && second < members.size(); ++second) {
        exclusive = excluded.contains({members[first], members[second]});
      }
    }
    if (!exclusive) continue;
    taken.insert(members.begin(), members.end());
    groups.push_back(std::move(members));
  }
  return groups;
}

std::vector<std::vector<int>> whole_groups(const Dimacs& formula, const std::vector<int>& told) {
  const auto shown = shown_variables(formula);
  auto groups = exactly_one_groups(formula);
  std::erase_if(groups, [&](const std::vector<int>& group) {
    return has_some_of(group, told) ||
           !std::ranges::all_of(group, [&](int member) { return shown[static_cast<std::size_t>(member)]; });
  });
  return groups;
}

Cnf encoded(const Dimacs& formula, const FormulaOptions& options) {
  const auto shown = shown_variables(formula);
  const auto worlds = world_variables(shown, options.told);
  if (worlds.empty()) throw UsageError("formula: no variable is shown");
  const auto groups = whole_groups(formula, options.told);
  auto of_worlds = as_they_stand(groups);
  Cnf with_groups({}, formula.variables, formula.clauses);
  if (options.as != FormulaAs::kClauses) {  // clauses of a group that is told in part are clauses like any other
    for (const auto& group : exactly_one_groups(formula)) {
      const bool is_shown =
          std::ranges::all_of(group, [&](int member) { return shown[static_cast<std::size_t>(member)]; });
      if (is_shown && has_some_of(group, options.told)) {
        of_worlds.push_back(what_is_left(group, options.told, with_groups));
      }
    }
  }
  Encoding encoding{.worlds = literals_of(worlds, of_worlds)};
  if (options.as == FormulaAs::kConstraint) {
    return {std::move(encoding), with_groups.variables(), with_groups.clauses()};
  }
  if (options.as == FormulaAs::kDefinition) {
    auto outputs = options.outputs;
    for (int variable = 1; options.outputs.empty() && variable <= formula.variables; ++variable) {
      if (!shown[static_cast<std::size_t>(variable)]) outputs.push_back(variable);
    }
    for (const auto variable : outputs) {
      if (variable < 1 || variable > formula.variables) {
        throw UsageError(fmt::format("definition: there is no variable {} to be an output", variable));
      }
      if (shown[static_cast<std::size_t>(variable)]) {
        throw UsageError(
            fmt::format("definition: variable {} is shown, so it is of the world, not an output", variable));
      }
    }
    if (outputs.empty()) throw UsageError("definition: all variables are shown, and none is left to be an output");
    encoding.outputs = literals_of(outputs, as_they_stand(exactly_one_groups(formula)));
    return {std::move(encoding), with_groups.variables(), with_groups.clauses()};
  }
  // The truth of each clause is a variable of its own; of the formula's only what groups say stays.
  const auto telling = clauses_that_tell(formula, groups);
  if (telling.empty()) throw UsageError("clauses: the formula has none that could be false");
  Cnf cnf({}, formula.variables, {});
  for (const auto& group : groups) cnf.exactly_one(group);
  for (const auto& clause : telling) {
    const auto holds = cnf.fresh_variable();
    encoding.outputs.push_back({-holds, holds});
    auto one_is_true = clause;
    one_is_true.push_back(-holds);
    cnf.add(std::move(one_is_true));
    for (const auto literal : clause) {
      if (!shown[static_cast<std::size_t>(std::abs(literal))]) {
        throw UsageError(fmt::format("clauses: variable {} is not shown, so whether a clause holds is not known",
                                     std::abs(literal)));
      }
      cnf.add({-literal, holds});
    }
  }
  return {std::move(encoding), cnf.variables(), cnf.clauses()};
}

}  // namespace anesi

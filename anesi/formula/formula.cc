#include "anesi/formula/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/circuit_files.h"
#include "anesi/exact/sat.h"
#include "anesi/formula/constraint.h"
#include "anesi/pruners/remembering_pruner.h"
#include "anesi/pruners/sat_pruner.h"

namespace anesi {
namespace {

constexpr std::int64_t kWorldsTried = 1000;

// Whether each variable is shown, entry 0 unused.
std::vector<bool> shown_of(const Dimacs& formula) {
  std::vector<bool> shown(static_cast<std::size_t>(formula.variables) + 1, !formula.has_show);
  for (const auto variable : formula.shown) shown[static_cast<std::size_t>(variable)] = true;
  return shown;
}

// Literals of the values of these variables: groups as one variable each, the others as two values.
Encoding::Literals literals_of(const std::vector<int>& variables, const std::vector<std::vector<int>>& groups) {
  const std::set<int> wanted(variables.begin(), variables.end());
  Encoding::Literals literals;
  std::set<int> done;
  for (const auto variable : variables) {
    if (done.contains(variable)) continue;
    const auto group = std::ranges::find_if(groups, [&](const std::vector<int>& members) {
      return std::ranges::find(members, variable) != members.end() &&
             std::ranges::all_of(members, [&](int member) { return wanted.contains(member); });
    });
    if (group == groups.end()) {
      literals.push_back({-variable, variable});
      continue;
    }
    literals.push_back(*group);
    done.insert(group->begin(), group->end());
  }
  return literals;
}

Space space_of_literals(const Encoding::Literals& literals) {
  std::vector<std::int64_t> domains;
  for (const auto& values : literals) domains.push_back(static_cast<std::int64_t>(values.size()));
  return Space(std::move(domains));
}

// The formula again with other names for the variables that are not shown; what is said of one variable and not of its
// twin shows that those that are shown do not define it (Padoa's method).
class Definitions {
 public:
  Definitions(const Dimacs& formula, const std::vector<bool>& shown) : variables_(formula.variables) {
    auto clauses = formula.clauses;
    for (const auto& clause : formula.clauses) {
      auto& twin = clauses.emplace_back(clause);
      for (auto& literal : twin) {
        if (!shown[static_cast<std::size_t>(std::abs(literal))]) literal += literal > 0 ? variables_ : -variables_;
      }
    }
    solvers_.emplace(std::move(clauses));
  }
  bool defines(int variable) const { return !solvers_->satisfiable({variable}, -(variable + variables_)); }

 private:
  int variables_;
  std::optional<SatSolvers> solvers_;
};

class FormulaProblem final : public PointwiseProblem {
 public:
  FormulaProblem(const Cnf& cnf, Encoding::Literals outputs, std::vector<std::vector<int>> told_clauses)
      : cnf_(cnf),
        outputs_literals_(std::move(outputs)),
        told_clauses_(std::move(told_clauses)),
        worlds_(space_of_literals(cnf.encoding().worlds)),
        outputs_(cnf.encoding().is_constraint() ? Space{2} : space_of_literals(cnf.encoding().outputs)) {
    std::vector<bool> of_world(static_cast<std::size_t>(cnf.variables()) + 1, false);
    for (const auto& literals : cnf.encoding().worlds) {
      for (const auto literal : literals) of_world[static_cast<std::size_t>(std::abs(literal))] = true;
    }
    const auto told = [&](int literal) { return of_world[static_cast<std::size_t>(std::abs(literal))]; };
    const auto& clauses = told_clauses_.empty() ? cnf.clauses() : told_clauses_;
    evaluates_ = std::ranges::all_of(clauses, [&](const auto& clause) { return std::ranges::all_of(clause, told); });
    if (!evaluates_) solvers_.emplace(cnf.clauses());
  }

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  Facts& facts_to_fill() { return facts_; }

  void apply_to_one(Values world, Values, MutableValues output) const override {
    if (!evaluates_) return ask_solver(world, output);
    std::vector<bool> is_true(static_cast<std::size_t>(cnf_.variables()) + 1, false);
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      const auto literal = cnf_.encoding().worlds[variable][static_cast<std::size_t>(world[variable])];
      if (literal > 0) is_true[static_cast<std::size_t>(literal)] = true;
    }
    const auto holds = [&](const std::vector<int>& clause) {
      return std::ranges::any_of(
          clause, [&](int literal) { return is_true[static_cast<std::size_t>(std::abs(literal))] == (literal > 0); });
    };
    if (cnf_.encoding().is_constraint()) {
      output[0] = std::ranges::all_of(cnf_.clauses(), holds) ? kSatisfied : 0;
      return;
    }
    for (std::size_t place = 0; place < told_clauses_.size(); ++place)
      output[place] = holds(told_clauses_[place]) ? 1 : 0;
  }

 private:
  void ask_solver(Values world, MutableValues output) const {
    std::vector<int> assumptions;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      assumptions.push_back(cnf_.encoding().worlds[variable][static_cast<std::size_t>(world[variable])]);
    }
    if (cnf_.encoding().is_constraint()) {
      output[0] = solvers_->satisfiable(assumptions) ? kSatisfied : 0;
      return;
    }
    const auto model = solvers_->model(assumptions, cnf_.variables());
    if (model.empty()) {
      throw Error(fmt::format("definition: the formula gives world ({}) no output", fmt::join(world, ", ")));
    }
    for (std::size_t variable = 0; variable < output.size(); ++variable) {
      const auto& literals = outputs_literals_[variable];
      for (std::size_t value = 0; value < literals.size(); ++value) {
        const auto literal = literals[value];
        if (model[static_cast<std::size_t>(std::abs(literal))] == (literal > 0)) {
          output[variable] = static_cast<std::int64_t>(value);
        }
      }
    }
  }

  Cnf cnf_;
  Encoding::Literals outputs_literals_;
  std::vector<std::vector<int>> told_clauses_;  // whose truth is the output
  Space worlds_, outputs_;
  bool evaluates_ = true;  // clauses can be looked at; else a solver is asked
  std::optional<SatSolvers> solvers_;
};

// Clauses that say no more than that one of a group holds are always true of worlds.
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

// Those that inputs tell first.
std::vector<int> world_variables(const std::vector<bool>& shown, const std::vector<int>& told) {
  auto variables = told;
  for (const auto variable : told) {
    if (variable < 1 || static_cast<std::size_t>(variable) >= shown.size() ||
        !shown[static_cast<std::size_t>(variable)]) {
      throw UsageError(fmt::format("told: there is no variable {} that the formula shows", variable));
    }
  }
  for (int variable = 1; static_cast<std::size_t>(variable) < shown.size(); ++variable) {
    const bool first = std::ranges::find(told, variable) != told.end();
    if (shown[static_cast<std::size_t>(variable)] && !first) variables.push_back(variable);
  }
  return variables;
}

}  // namespace

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

Cnf encoded(const Dimacs& formula, const FormulaOptions& options) {
  const auto groups = exactly_one_groups(formula);
  const auto shown = shown_of(formula);
  const auto worlds = world_variables(shown, options.told);
  if (worlds.empty()) throw UsageError("formula: no variable is shown");
  Encoding encoding{.worlds = literals_of(worlds, groups)};
  if (options.as == FormulaAs::kConstraint) return {std::move(encoding), formula.variables, formula.clauses};
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
    encoding.outputs = literals_of(outputs, groups);
    return {std::move(encoding), formula.variables, formula.clauses};
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

std::shared_ptr<const Problem> formula_problem(const Dimacs& formula, const FormulaOptions& options) {
  const auto cnf = encoded(formula, options);
  const auto groups = exactly_one_groups(formula);
  const auto shown = shown_of(formula);
  const bool solver = this_build().cadical;
  const bool hides = std::ranges::find(shown.begin() + 1, shown.end(), false) != shown.end();
  if (hides && !solver)
    throw Error("formula: variables that are not shown need CaDiCaL, and anesi was built without it");
  if (solver && !SatSolvers(formula.clauses).satisfiable())
    throw Error("formula: it has no model, no world satisfies it");
  if (hides) {
    const Definitions definitions(formula, shown);
    for (int variable = 1; variable <= formula.variables; ++variable) {
      if (!shown[static_cast<std::size_t>(variable)] && !definitions.defines(variable)) {
        throw Error(
            fmt::format("formula: variable {} is not shown, and those that are do not define it: a world would "
                        "have several outputs, or be counted several times",
                        variable));
      }
    }
  }
  const bool clauses = options.as == FormulaAs::kClauses;
  auto problem = std::make_shared<FormulaProblem>(
      cnf, cnf.encoding().outputs, clauses ? clauses_that_tell(formula, groups) : std::vector<std::vector<int>>{});
  auto& facts = problem->facts_to_fill();
  facts.with(cnf);
  if (options.as == FormulaAs::kConstraint) facts.with(AskedOutput{{kSatisfied}});
  std::shared_ptr<const CompiledFormula> compiled;
  if (this_build().libsdd && options.seconds > 0) {
    try {
      compiled = std::make_shared<CompiledFormula>(
          CompiledFormula{Circuit::compile(cnf.variables(), cnf.clauses(), options.seconds), cnf.encoding()});
    } catch (const Error&) {
      // It does not compile in time; there is the solver.
    }
  }
  if (compiled) {
    if (!compiled->circuit.satisfiable()) throw Error("formula: it has no model, no world satisfies it");
    facts.with(compiled);
    facts.with(std::shared_ptr<const Pruner>(make_remembering_pruner(make_circuit_pruner(compiled))));
  } else if (solver) {
    facts.lazily<Pruner>([cnf, worlds = problem->worlds(), outputs = problem->outputs()] {
      return std::shared_ptr<const Pruner>(make_remembering_pruner(make_sat_pruner(cnf, worlds, outputs)));
    });
  }
  if (options.as == FormulaAs::kDefinition) {
    const auto generator = seeded(0);
    std::vector<std::int64_t> world(static_cast<std::size_t>(problem->worlds().variables()));
    for (std::int64_t tried = 0; tried < kWorldsTried; ++tried) {
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        const auto domain = problem->worlds().domain(static_cast<std::int64_t>(variable));
        world[variable] = torch::randint(domain, {1}, generator, torch::kInt64).item<std::int64_t>();
      }
      apply_to(*problem, world);
    }
  }
  return problem;
}

bool is_formula_file(const std::filesystem::path& file) {
  const auto ending = file.extension();
  return ending == ".cnf" || ending == ".dimacs" || ending == ".nnf" || ending == ".ddnnf" || ending == ".sdd";
}

std::shared_ptr<const Problem> read_formula_problem(const std::filesystem::path& file, const FormulaOptions& options) {
  const auto ending = file.extension();
  if (ending != ".nnf" && ending != ".ddnnf" && ending != ".sdd") return formula_problem(read_dimacs(file), options);
  if (options.as != FormulaAs::kConstraint) {
    throw UsageError(
        fmt::format("{}: a circuit is a constraint; it has no clauses and defines nothing", file.string()));
  }
  CompiledFormula formula{ending == ".sdd" ? read_sdd(file) : read_nnf(file), {}};
  const std::vector<bool> shown(static_cast<std::size_t>(formula.circuit.variables()) + 1, true);
  for (const auto variable : world_variables(shown, options.told)) {
    formula.encoding.worlds.push_back({-variable, variable});
  }
  return make_constraint(std::make_shared<CompiledFormula>(std::move(formula)));
}

}  // namespace anesi

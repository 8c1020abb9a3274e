#include "anesi/formula/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/formula/constraint.h"
#include "anesi/formula/formula_encoding.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/sat.h"
#include "anesi/search/circuit_pruner.h"
#include "anesi/search/remembering_pruner.h"
#include "anesi/search/sat_pruner.h"

namespace anesi {
namespace {

constexpr std::int64_t kWorldsTried = 1000;

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
  FormulaProblem(const Cnf& cnf, std::vector<std::vector<int>> told_clauses)
      : cnf_(cnf),
        told_clauses_(std::move(told_clauses)),
        worlds_(space_of(cnf.encoding().worlds)),
        outputs_(cnf.encoding().is_constraint() ? Space{2} : space_of(cnf.encoding().outputs)) {
    const auto of_world = cnf.encoding().of_worlds(cnf.variables());
    const auto told = [&](int literal) { return of_world[static_cast<std::size_t>(std::abs(literal))]; };
    const auto& clauses = told_clauses_.empty() ? cnf.clauses() : told_clauses_;
    evaluates_ = std::ranges::all_of(clauses, [&](const auto& clause) { return std::ranges::all_of(clause, told); });
    if (!evaluates_) solvers_.emplace(cnf.clauses());
  }

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  Facts& facts_to_fill() { return facts_; }

  void apply_to_one(Values world, MutableValues output) const override {
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
    read_values(cnf_.encoding().outputs, model, output.data());
  }

  Cnf cnf_;
  std::vector<std::vector<int>> told_clauses_;  // whose truth is the output
  Space worlds_, outputs_;
  bool evaluates_ = true;  // clauses can be looked at; else a solver is asked
  std::optional<SatSolvers> solvers_;
};

void check_satisfiable(const std::vector<std::vector<int>>& clauses) {
  if (this_build().cadical && !SatSolvers(clauses).satisfiable())
    throw Error("formula: it has no model, no world satisfies it");
}

// A variable that is not shown and that those which are do not define; 0 if there is none.
int undefined_variable(const Dimacs& formula, const std::vector<bool>& shown) {
  const Definitions definitions(formula, shown);
  for (int variable = 1; variable <= formula.variables; ++variable) {
    if (!shown[static_cast<std::size_t>(variable)] && !definitions.defines(variable)) return variable;
  }
  return 0;
}

// Throws Error where one of some random worlds has no output.
void try_worlds(const Problem& problem) {
  Random random(0);
  apply(problem, random_points(problem.worlds(), kWorldsTried, random));
}

// With the facts that a formula buys: a circuit and its pruner where it compiles in time, else the solver's pruner.
std::shared_ptr<const Problem> problem_of(const Cnf& cnf, std::vector<std::vector<int>> told_clauses, double seconds) {
  auto problem = std::make_shared<FormulaProblem>(cnf, std::move(told_clauses));
  auto& facts = problem->facts_to_fill();
  facts.with(cnf);
  if (cnf.encoding().is_constraint()) facts.with(AskedOutput{{kSatisfied}});
  std::shared_ptr<const CompiledFormula> compiled;
  if (seconds > 0) {
    try {
      compiled = compiled_formula(cnf, seconds);
    } catch (const Error&) {
      // It does not compile in time; there is the solver.
    }
  }
  if (compiled) {
    if (!compiled->circuit.satisfiable()) throw Error("formula: it has no model, no world satisfies it");
    facts.with(compiled);
    facts.with(std::shared_ptr<const Pruner>(make_remembering_pruner(make_circuit_pruner(compiled))));
  } else if (this_build().cadical) {
    facts.lazily<Pruner>([cnf, worlds = problem->worlds(), outputs = problem->outputs()] {
      return std::shared_ptr<const Pruner>(make_remembering_pruner(make_sat_pruner(cnf, worlds, outputs)));
    });
  }
  return problem;
}

}  // namespace

std::shared_ptr<const Problem> formula_problem(const Cnf& cnf, double seconds) {
  check_satisfiable(cnf.clauses());
  return problem_of(cnf, {}, seconds);
}

std::shared_ptr<const Problem> formula_problem(const Dimacs& formula, const FormulaOptions& options) {
  auto cnf = encoded(formula, options);
  const auto shown = shown_variables(formula);
  const bool hides = std::ranges::find(shown.begin() + 1, shown.end(), false) != shown.end();
  if (hides && !this_build().cadical)
    throw Error("formula: variables that are not shown need CaDiCaL, and anesi was built without it");
  check_satisfiable(formula.clauses);
  if (const auto variable = hides ? undefined_variable(formula, shown) : 0; variable != 0) {
    if (options.defined || options.as != FormulaAs::kConstraint) {
      throw Error(
          fmt::format("formula: variable {} is not shown, and those that are do not define it: a world would "
                      "have several outputs, or be counted several times",
                      variable));
    }
    cnf.project();
  }
  const bool clauses = options.as == FormulaAs::kClauses;
  const auto problem = problem_of(
      cnf, clauses ? clauses_that_tell(formula, whole_groups(formula, options.told)) : std::vector<std::vector<int>>{},
      options.seconds);
  if (options.as == FormulaAs::kDefinition) try_worlds(*problem);
  return problem;
}

bool is_formula_file(const std::filesystem::path& file) {
  const auto ending = file.extension();
  return ending == ".cnf" || ending == ".dimacs" || ending == ".nnf" || ending == ".ddnnf" || ending == ".sdd";
}

std::shared_ptr<const Problem> read_formula_problem(const std::filesystem::path& file, const FormulaOptions& options,
                                                    const Say& warn) {
  const auto ending = file.extension();
  if (ending != ".nnf" && ending != ".ddnnf" && ending != ".sdd") {
    return formula_problem(read_dimacs(file, warn), options);
  }
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

// A formula from a file, or a list of clauses, as a problem.
//
// | as           | worlds                | output                                                          |
// |--------------|-----------------------|-----------------------------------------------------------------|
// | constraint   | the variables shown   | 1 where the formula holds, else 0                               |
// | clauses      | the variables shown   | of each clause, whether it holds (section 3.2.2 of the paper)   |
// | definition   | the variables shown   | the other variables, which the formula defines by those         |
//
// All variables are shown unless the file says which (`c p show`). A constraint then holds of a world if some values of
// the others satisfy the formula. Variables of which exactly one holds, by the formula
// itself, become one world variable with as many values. If inputs tell some of those, the world variable is about the
// others: which of them holds, if no told one does; if only one is left, it is no variable of the world. As clauses, a
// group of which some are told is not joined.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/dimacs.h"

namespace anesi {

enum class FormulaAs { kConstraint, kClauses, kDefinition };
constexpr std::array<std::string_view, 3> names_of(FormulaAs) { return {"constraint", "clauses", "definition"}; }

struct FormulaOptions {
  FormulaAs as = FormulaAs::kConstraint;
  std::vector<int> outputs = {};  // of a definition: which variables; none: all that are not shown
  std::vector<int> told = {};     // variables that come first in the world: those that inputs tell
  double seconds = 5;             // for compiling the formula; a constraint then has an exact pruner by its circuit
  bool defined = false;           // whether shown variables must define the others, as they must of a definition
};

// Groups of variables, each of which is the whole of one clause and pairwise excluded by others; disjoint.
std::vector<std::vector<int>> exactly_one_groups(const Dimacs& formula);

// What a formula is as a problem: its Cnf, with the literals of worlds and outputs. Throws UsageError where the formula
// has no variable to show, or where "clauses" is asked for and some are not shown.
Cnf encoded(const Dimacs& formula, const FormulaOptions& options);

// Throws Error if the formula has no model, if a variable that is not shown is not defined by those that are (it is
// named) though it must be, or if a world has no output. With a solver these are proven, but the last, which is tried
// on worlds; without one (CaDiCaL), only formulas whose variables are all shown can be problems.
std::shared_ptr<const Problem> formula_problem(const Dimacs& formula, const FormulaOptions& options = {});

// Of what is encoded already, which compiles for so many seconds at most, or not at all. Outputs, where it has any, are
// what a solver finds. Throws Error where the formula has no model.
std::shared_ptr<const Problem> formula_problem(const Cnf& cnf, double seconds = 5);

// From DIMACS (.cnf, .dimacs) or, as constraints, from circuits of other tools (.nnf, .ddnnf; .sdd with its .vtree).
// `warn` is told what is odd about the file.
std::shared_ptr<const Problem> read_formula_problem(const std::filesystem::path& file,
                                                    const FormulaOptions& options = {}, const Say& warn = {});
// Whether the name of a file ends like one of these.
bool is_formula_file(const std::filesystem::path& file);

}  // namespace anesi

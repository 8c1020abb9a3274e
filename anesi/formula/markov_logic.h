// Markov logic: clauses that should hold, each with a weight, beside clauses that must.
//
//   p(w|P) = prod_i P_i(w_i) exp(sum of the weights of the soft clauses that hold) / Z(P)
//
// over the worlds that keep the hard clauses (Richardson and Domingos 2006, with beliefs for the variables). Knowledge
// that may be wrong: worlds that break a soft clause are less likely, not impossible. A formula that is no clause is
// weighted by a variable of its own: hard clauses say that it is equivalent, `c p show` leaves it out of worlds, and a
// soft clause of it alone has the weight.
//
// What is hard is Z(P). If the formula compiles the circuit knows it, with its derivatives. Else belief propagation
// (exact/belief_propagation.h) or a graph network (models/markov_inference.h) estimates it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "anesi/core/problem.h"
#include "anesi/core/rows.h"
#include "anesi/logic/factor_graph.h"
#include "anesi/logic/sat.h"
#include "anesi/logic/wcnf.h"

namespace anesi {

// Whether the name of a file ends with .wcnf.
inline bool is_weighted_formula_file(const std::filesystem::path& file) { return file.extension() == ".wcnf"; }

class MarkovLogic {
 public:
  // The hard clauses are compiled for their pruner, which is given up after `seconds`. Throws Error where no world
  // keeps the hard clauses, or where variables that are not shown are not defined by those that are (formula.h);
  // UsageError where there is no soft clause.
  explicit MarkovLogic(Wcnf formula, double seconds = 60);

  const Wcnf& formula() const { return formula_; }
  const Space& worlds() const { return hard_->worlds(); }
  // The hard clauses as a constraint: its output is 1 where a world keeps them. Tells a Cnf and a pruner.
  const Problem& hard() const { return *hard_; }
  std::int64_t clauses() const { return static_cast<std::int64_t>(formula_.soft.size()); }
  // The clauses, soft ones included, between the variables of worlds: what messages are passed along.
  FactorGraph graph() const;

  // Whether each soft clause holds, [rows, clauses], 1 or 0. If worlds break the hard clauses, clauses that name
  // variables that are not shown count as not holding.
  Matrix<double> holds(PointRows worlds) const;

 private:
  // Whether each propositional variable is true, entry 0 unused.
  std::vector<bool> model_of(Values world) const;

  Wcnf formula_;
  std::shared_ptr<const Problem> hard_;
  std::optional<SatSolvers> solvers_;  // where variables are not shown
};

}  // namespace anesi

// Markov logic: clauses that should hold, each with a weight, beside clauses that must.
//
//   p(w|P) = prod_i P_i(w_i) exp(sum of the weights of the soft clauses that hold) / Z(P)
//
// over the worlds that keep the hard clauses (Richardson and Domingos 2006, with beliefs for the variables). Knowledge
// that may be wrong: worlds that break a soft clause are less likely, not impossible. A formula that is no clause is
// weighted by a variable of its own: hard clauses say that it is equivalent, `c p show` leaves it out of worlds, and a
// soft clause of it alone has the weight.
//
// What is hard is Z(P). Where the formula compiles the circuit knows it, with its derivatives. Else a graph network
// estimates it, for weights and beliefs alike, and its draws under the pruner count it (predict/soft_count.h).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "anesi/core/problem.h"
#include "anesi/formula/soft_circuit.h"
#include "anesi/logic/sat.h"
#include "anesi/logic/wcnf.h"
#include "anesi/models/graph.h"

namespace anesi {

// Whether the name of a file ends with .wcnf.
inline bool is_weighted_formula_file(const std::filesystem::path& file) { return file.extension() == ".wcnf"; }

class MarkovLogic {
 public:
  // Compiling is given up after `seconds`. Throws Error where no world keeps the hard clauses, or where variables that
  // are not shown are not defined by those that are (formula.h); UsageError where there is no soft clause.
  explicit MarkovLogic(Wcnf formula, double seconds = 60);

  const Wcnf& formula() const { return formula_; }
  const Space& worlds() const { return hard_->worlds(); }
  // The hard clauses as a constraint: its output is 1 where a world keeps them. Tells a Cnf and a pruner.
  const Problem& hard() const { return *hard_; }
  std::int64_t clauses() const { return static_cast<std::int64_t>(formula_.soft.size()); }
  torch::Tensor weights() const;  // as the file gives them, double [clauses]
  // Null where it did not compile.
  const SoftCircuitOfTensors* circuit() const { return circuit_ ? &*circuit_ : nullptr; }
  // Throws Error where it did not compile.
  const SoftCircuitOfTensors& exact() const;

  // Whether each soft clause holds, double [rows, clauses], 1 or 0. Where worlds break the hard clauses, clauses that
  // name variables that are not shown count as not holding.
  torch::Tensor holds(const torch::Tensor& worlds) const;
  // bool [rows]: whether worlds keep the hard clauses.
  torch::Tensor keeps(const torch::Tensor& worlds) const;

  // What the network passes messages along, and q(y|P) or q(w|y,P) with these weights, [clauses]. Where y=1, q(y|P) is
  // an estimate of Z(P) / exp(log_scale), which is at most 1.
  const std::shared_ptr<const MessagePaths>& paths() const { return paths_; }
  Graph q(const std::shared_ptr<GraphNetwork>& network, bool explains, const torch::Tensor& weights) const;
  static torch::Tensor log_scale(const torch::Tensor& weights) { return weights.clamp_min(0).sum(-1); }

 private:
  // Whether each propositional variable is true, entry 0 unused.
  std::vector<bool> model_of(Values world) const;

  Wcnf formula_;
  std::shared_ptr<const Problem> hard_;
  std::optional<SoftCircuitOfTensors> circuit_;
  std::optional<SatSolvers> solvers_;  // where variables are not shown
  std::shared_ptr<const MessagePaths> paths_;
};

}  // namespace anesi

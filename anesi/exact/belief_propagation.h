// Approximate weighted counting by belief propagation, for formulas of any size.
//
// The estimate is Bethe's free energy, after messages went along a factor graph (logic/factor_graph.h). It is exact if
// the graph has no loops. Otherwise the cases of a few variables are counted apart, which breaks the loops through
// them; if none is left, the sum is exact again. An estimate may come out above the weight of all worlds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/exact/backend.h"
#include "anesi/exact/message_plan.h"
#include "anesi/logic/factor_graph.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct PropagationOptions {
  std::int64_t rounds = 8;
  double damping = 0.3;
  std::int64_t cases = 8;

  void describe(OptionTable& table) {
    table.add("rounds", rounds, {2, 1000}, "sweeps of messages over the clauses that are in loops");
    table.add("damping", damping, {0, 0.99}, "share of its old value that a message in a loop keeps in a sweep");
    table.add("cases", cases, {1, 65536}, "largest number of cases that are counted apart to break loops");
  }
};

// Constant; several threads may ask at once. Memory: rounds * edges of the graph * 128 bytes for each thread while it
// computes a gradient, a tenth of that otherwise.
class BeliefPropagation {
 public:
  // Throws UsageError if a clause has no edge, or an edge names no value or all.
  explicit BeliefPropagation(const FactorGraph& graph, const PropagationOptions& options = {});

  const Space& worlds() const { return worlds_; }
  std::int64_t weights() const { return weights_; }  // of soft clauses
  // World variables in the order in which it pays to know them.
  const std::vector<std::int64_t>& order() const { return order_; }
  // Whether the cases leave no loop.
  bool is_exact() const { return !plan_.has_loops; }

  // For each row, an estimate of the logarithm of the sum, over the worlds that violate no hard clause, of their
  // probability times exp(the weights of the soft clauses that hold): log Z(P) of Markov logic. -inf if no such world
  // is found. `weights` has one number for each soft clause. What is not empty of the derivatives is overwritten: by
  // log P_i(v), and by the weights, [rows, weights]. They are those of the number returned.
  void log_count(LogBeliefRows logs, std::span<const double> weights, std::span<double> counts,
                 GradientRows gradient = {}, Rows<double> weight_gradient = {}) const;

 private:
  class Block;

  Space worlds_;
  std::vector<std::int64_t> order_;
  PropagationOptions options_;
  std::int64_t weights_;
  MessagePlan plan_;
};

}  // namespace anesi

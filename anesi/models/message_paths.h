// The ways that messages take between the variables and the clauses of a constraint.
#pragma once

#include <torch/torch.h>

#include "anesi/logic/factor_graph.h"

namespace anesi {

inline constexpr double kLeastBelief = 1e-9;  // logarithms of smaller beliefs are as large as its

// A factor graph as the tensors that messages need. Constant.
class MessagePaths {
 public:
  // Throws UsageError where a clause has no edge or an edge names no value or all.
  explicit MessagePaths(const FactorGraph& graph);

  const Space& worlds() const { return worlds_; }
  std::int64_t weights() const { return weights_; }  // of soft clauses
  // World variables: those that break the most loops first, then those in the most and shortest clauses.
  const std::vector<std::int64_t>& order() const { return order_; }
  // Whether no clause is in a loop: then belief propagation is exact.
  bool is_forest() const { return is_forest_; }
  // Logarithms of all variables' weights [variables, domain, rows] from the worlds' beliefs [rows, worlds, domain].
  torch::Tensor log_weights(const torch::Tensor& beliefs) const;

 private:
  friend class GraphNetwork;
  torch::Tensor add_to_values(const torch::Tensor& messages) const;  // [edges, rows] -> [variables * domain, rows]
  // Along the last but one dimension, […, edges, any] to [variables, any] and back.
  torch::Tensor add_to_variables(const torch::Tensor& features) const;
  torch::Tensor at_edges(const torch::Tensor& variables) const;

  Space worlds_;
  std::vector<std::int64_t> order_;
  // Edges stand clause by clause; shorter clauses are filled up with edges that lead nowhere.
  std::int64_t variables_ = 0, domain_ = 0, clauses_ = 0, longest_ = 0, edges_ = 0;
  std::int64_t weights_ = 0;
  bool is_forest_ = true;
  bool dense_ = false;          // sums over edges are matrix products
  torch::Tensor soft_;          // int64 [soft clauses], among the clauses; undefined where none is
  torch::Tensor weight_of_;     // int64 [soft clauses], among the weights
  torch::Tensor own_weights_;   // [own variables, domain, 1]
  torch::Tensor past_domain_;   // bool [worlds, domain, 1]: no value of that variable; undefined where none is
  torch::Tensor variable_;      // int64 [edges]
  torch::Tensor falsifying_;    // [edges, domain], 1 where that value does not satisfy the clause
  torch::Tensor to_values_;     // [variables * domain, edges] where dense
  torch::Tensor to_variables_;  // [variables, edges] where dense
  torch::Tensor filled_;        // bool [edges, 1]: leads nowhere; undefined where none does
  torch::Tensor least_;         // [clauses, 1, 1], of 1 - what a clause thinks of its being violated
};

}  // namespace anesi

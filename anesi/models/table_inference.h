// Exact inference where each output is of a few world variables, which a table says.
//
//   p(y|P) = product over the outputs k of  sum over the values v of its variables with T_k[v] = y_k of  prod P_i(v_i)
//
// It is exact where no two outputs share a variable (apart()). Elsewhere each factor is still the exact marginal
// p(y_k|P), and the product takes outputs for independent.
#pragma once

#include <vector>

#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/tensors/exact_inference.h"

namespace anesi {

class TableInference final : public ExactInference {
 public:
  // Throws UsageError where the problem gives no tables, or tables of other variables than it has.
  explicit TableInference(const Problem& problem);

  // Whether no variable is in two tables.
  bool apart() const { return apart_; }
  // log p(y_k = v|P), double [batch, outputs, largest domain of an output]; -inf past a domain.
  torch::Tensor marginals_of_outputs(const torch::Tensor& logs) const;

 private:
  // Outputs whose tables have the same shape, so that they are looked up together.
  struct Group {
    std::vector<std::int64_t> domains;  // of the variables
    torch::Tensor outputs;              // int64 [outputs]
    torch::Tensor variables;            // int64 [variables of each, outputs]
    torch::Tensor values;               // int64 [outputs, combinations]
  };

  torch::Tensor find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const override;
  MostProbable find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const override;
  torch::Tensor draw(const torch::Tensor& logs, const torch::Tensor& outputs, at::Generator generator) const override;

  torch::Tensor of_values(const torch::Tensor& logs, std::int64_t variable) const {
    return logs.select(1, variable).slice(1, 0, worlds().domain(variable));
  }
  // The logarithm of how likely each combination of the variables of a group's outputs is, [batch, outputs,
  // combinations]; -inf where it does not give what is asked for.
  torch::Tensor combinations(const Group& group, const torch::Tensor& logs) const;
  torch::Tensor agreeing(const Group& group, const torch::Tensor& logs, const torch::Tensor& outputs) const;
  // Writes the values of the combinations that were chosen, int64 [batch, outputs], into worlds.
  static void write(const Group& group, torch::Tensor chosen, torch::Tensor& worlds);

  std::int64_t largest_output_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> unread_;  // world variables that are in no table
  bool apart_ = true;
};

}  // namespace anesi

// A q for outputs that each are of a few world variables, which a table says: nothing is learned.
//
//   q(y|P) = product over the outputs k of  sum over the values v of its variables with T_k[v] = y_k of  prod P_i(v_i)
//
// Each factor is the exact marginal p(y_k|P). The product takes outputs for independent, as `pairwise` does: it is
// p(y|P) where no two outputs share a variable.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/output_tables.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

class Tables final : public SequenceModel {
 public:
  // Throws UsageError where the problem gives no tables, or tables of other variables than it has.
  explicit Tables(const Problem& problem);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;
  bool rollouts_have_gradients() const override { return false; }  // there are no weights
  bool multilinear() const override { return apart_; }

 private:
  // Outputs whose tables have the same shape, so that they are looked up together.
  struct Group {
    std::vector<std::int64_t> domains;  // of the variables
    torch::Tensor outputs;              // int64 [outputs]
    torch::Tensor variables;            // int64 [variables of each, outputs]
    torch::Tensor values;               // int64 [outputs, combinations]
  };

  // The probability of each combination of the variables of a group's outputs, [batch, outputs, combinations].
  torch::Tensor combinations(const Group& group, const torch::Tensor& beliefs) const;

  std::vector<Group> groups_;
  bool apart_ = true;  // no variable is in two tables
};

}  // namespace anesi

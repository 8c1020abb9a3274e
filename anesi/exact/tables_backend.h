// Exact inference where each output is of a few world variables, which a table says.
//
//   p(y|P) = product over the outputs k of  sum over the values v of its variables with T_k[v] = y_k of  prod P_i(v_i)
//
// It is exact if no two outputs share a variable (is_exact()). Else each factor is still the exact marginal p(y_k|P),
// and the product takes outputs for independent.
#pragma once

#include <vector>

#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/exact/backends.h"

namespace anesi {

class TablesBackend final : public Backend {
 public:
  static std::optional<BackendCost> applies(const Problem& problem, const ExactOptions& options);
  // Throws UsageError if the problem gives no tables, or tables of other variables than it has.
  explicit TablesBackend(const Problem& problem, const ExactOptions& options = {});

  // Whether no variable is in two tables.
  bool is_exact() const override { return is_exact_; }
  // log p(y_k = v|P) of each output k and value v, as [rows, outputs, largest domain of an output] in one piece; -inf
  // past a domain.
  void output_marginals(LogBeliefRows logs, GradientRows log_probs) const;

 private:
  void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const override;
  void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const override;
  void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const override;

  // log of how likely each combination is that gives what is asked for; -inf for the others.
  void weigh(std::size_t output, const double* logs, std::int64_t width, std::int64_t asked,
             std::vector<double>& weights) const;
  // Calls visit(variable, value) for the values of a combination.
  template <typename Visit>
  void for_each_value(const OutputTable& table, std::int64_t combination, Visit visit) const;

  std::vector<OutputTable> tables_;
  std::vector<std::int64_t> unread_;  // world variables that are in no table
  bool is_exact_ = true;
};

}  // namespace anesi

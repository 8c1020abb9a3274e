// A q for outputs that each depend on two world variables: all of them at once, by one function that they share.
//
//   q(y|P) = product over the pairs k = (i, j) of f(P_i, P_j)[y_k]
//
// `mlp` is the paper's for visual sudoku: f is a network, learned from sampled beliefs. `table` learns f on worlds
// alone, f(P_i, P_j)[y] = sum over values a, b of P_i(a) P_j(b) T[a, b, y]: each factor is linear in both beliefs, as
// the marginal p(y_k|P) is, so being right on worlds makes every factor right on every belief. The product is not
// p(y|P), since pairs share variables: it takes them for independent, as the paper does.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

enum class PairwiseForm { kTable, kMlp };
constexpr std::array<std::string_view, 2> names_of(PairwiseForm) { return {"table", "mlp"}; }

struct PairwiseOptions {
  PairwiseForm form = PairwiseForm::kTable;
  std::int64_t layers = 2, width = 100;

  void describe(OptionTable& table) {
    table.add("form", form, "f as a table over two values, learned from worlds, or as a network");
    table.add("layers", layers, {1, 100}, "hidden layers of the network");
    table.add("width", width, {1, 100000}, "units of a hidden layer");
  }
};

class Pairwise final : public SequenceModel {
 public:
  // Throws UsageError where the problem gives no pairs, or variables of different domains.
  Pairwise(const Problem& problem, const PairwiseOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

  // log f(P_i, P_j) of each pair, [values of an output, batch, pairs].
  torch::Tensor factors(const torch::Tensor& beliefs);
  // The learned table T, [values, values, values of an output]; undefined for the network.
  torch::Tensor table() const;

 private:
  torch::Tensor variables_;  // the two world variables of each pair, int64 [pairs * 2]
  std::int64_t values_, emitted_;
  std::vector<torch::nn::Linear> layers_;
  torch::Tensor table_logits_;  // [values, values, values of an output]
};

}  // namespace anesi

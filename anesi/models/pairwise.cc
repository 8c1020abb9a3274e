#include "anesi/models/pairwise.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"
#include "anesi/models/relu_network.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// Factors do not depend on each other: the next one's logarithms stand in a column.
class FactorRollout final : public Rollout {
 public:
  explicit FactorRollout(torch::Tensor factors) : factors_(std::move(factors)) {}

  torch::Tensor next_log_probs() override { return factors_.select(1, variable_); }
  void advance(const torch::Tensor&) override { ++variable_; }
  void select(const torch::Tensor& rows) override { factors_ = factors_.index_select(0, rows); }

 private:
  torch::Tensor factors_;  // [rows, pairs, values of an output]
  std::int64_t variable_ = 0;
};

}  // namespace

Pairwise::Pairwise(const Problem& problem, const PairwiseOptions& options)
    : SequenceModel(problem.outputs()),
      values_(problem.worlds().largest_domain()),
      emitted_(problem.outputs().largest_domain()) {
  const auto* const known = problem.facts().find<VariablePairs>();
  if (known == nullptr || static_cast<std::int64_t>(known->pairs.size()) != problem.outputs().variables()) {
    throw UsageError("architecture pairwise: the problem does not say which two world variables each output is of");
  }
  for (const auto& pair : known->pairs) {
    for (const auto variable : pair) {
      if (variable < 0 || variable >= problem.worlds().variables()) {
        throw UsageError(fmt::format("architecture pairwise: a pair names world variable {}; there are {}", variable,
                                     problem.worlds().variables()));
      }
    }
  }
  if (!problem.worlds().all_domains_equal() || !problem.outputs().all_domains_equal()) {
    throw UsageError("architecture pairwise: all world variables must have one domain, and all outputs one");
  }
  std::vector<std::int64_t> of_pairs;
  for (const auto& pair : known->pairs) of_pairs.insert(of_pairs.end(), pair.begin(), pair.end());
  variables_ = tensor_of(of_pairs);
  if (options.form == PairwiseForm::kTable) {
    table_logits_ = register_parameter("table", 0.01 * torch::randn({values_, values_, emitted_}));
    return;
  }
  auto width = 2 * values_;
  for (std::int64_t layer = 0; layer <= options.layers; ++layer) {
    const auto next = layer < options.layers ? options.width : emitted_;
    layers_.emplace_back(register_module(fmt::format("layer{}", layer), torch::nn::Linear(width, next)));
    width = next;
  }
}

torch::Tensor Pairwise::table() const { return table_logits_.defined() ? table_logits_.softmax(2) : torch::Tensor(); }

torch::Tensor Pairwise::factors(const torch::Tensor& beliefs) {
  // The beliefs of each pair's variables, one after the other.
  const auto of_pairs = beliefs.index_select(1, variables_.to(beliefs.device()));  // [batch, pairs * 2, values]
  const auto batch = beliefs.size(0), pairs = variables_.size(0) / 2;
  if (!table_logits_.defined()) {
    const auto logits = relu_network(of_pairs.view({batch * pairs, 2 * values_}), layers_);
    return logits.log_softmax(0).view({emitted_, batch, pairs});
  }
  // For each value that an output may have: P_i T P_j. Rows of T sum to one over those values, so the factors do too.
  const auto both = of_pairs.view({batch, pairs, 2, values_});
  const auto rows = table().to(beliefs.scalar_type());
  const auto mixed = both.select(2, 0).matmul(rows.view({values_, values_ * emitted_}));
  const auto share = (mixed.view({batch, pairs, values_, emitted_}) * both.select(2, 1).unsqueeze(3)).sum(2);
  return share.clamp_min(std::numeric_limits<float>::min()).log().permute({2, 0, 1});
}

torch::Tensor Pairwise::log_prob(const Context& context, const torch::Tensor& values) {
  const auto logs = factors(context.beliefs).unbind(0);
  auto chosen = logs[0];
  for (std::int64_t value = 1; value < emitted_; ++value) {
    chosen = torch::where(values == value, logs[static_cast<std::size_t>(value)], chosen);
  }
  return chosen.sum(1);
}

std::unique_ptr<Rollout> Pairwise::begin(const Context& context) {
  return std::make_unique<FactorRollout>(factors(context.beliefs).permute({1, 2, 0}));
}

namespace {

ANESI_ARCHITECTURE("pairwise", "one function of two beliefs, shared by all pairs", PairwiseOptions,
                   [](const PairwiseOptions& options, const Problem& problem, bool explains) -> InferenceModel {
                     if (explains) throw UsageError("architecture pairwise only predicts; it cannot explain or prune");
                     return {std::make_shared<Pairwise>(problem, options), nullptr};
                   });

}  // namespace
}  // namespace anesi

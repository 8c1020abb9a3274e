#include "anesi/models/pairwise.h"

#include <limits>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"

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

std::vector<std::int64_t> output_order(const Space& outputs) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(outputs.variables()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Pairwise::Pairwise(const Problem& problem, const PairwiseOptions& options)
    : SequenceModel(problem.outputs(), output_order(problem.outputs())),
      values_(problem.worlds().largest_domain()),
      emitted_(problem.outputs().largest_domain()) {
  const auto pairs = problem.pairs();
  if (static_cast<std::int64_t>(pairs.size()) != problem.outputs().variables()) {
    throw UsageError("q.architecture=pairwise: the problem does not say which two world variables each output is of");
  }
  if (!problem.worlds().all_domains_equal() || !problem.outputs().all_domains_equal()) {
    throw UsageError("q.architecture=pairwise: all world variables must have one domain, and all outputs one");
  }
  const auto columns = pair_columns(pairs);
  first_ = columns[0];
  second_ = columns[1];
  if (options.form == "table") {
    table_logits_ = register_parameter("table", 0.01 * torch::randn({values_, values_, emitted_}));
    return;
  }
  network_ = register_module("network", torch::nn::Sequential());
  auto width = 2 * values_;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    network_->push_back(torch::nn::Linear(width, options.width));
    network_->push_back(torch::nn::ReLU());
    width = options.width;
  }
  network_->push_back(torch::nn::Linear(width, emitted_));
}

torch::Tensor Pairwise::table() const { return table_logits_.defined() ? table_logits_.softmax(2) : torch::Tensor(); }

torch::Tensor Pairwise::factors(const torch::Tensor& beliefs) {
  const auto at = [&](const torch::Tensor& variables) {
    return beliefs.index_select(1, variables.to(beliefs.device()));  // [batch, pairs, values]
  };
  const auto one = at(first_), other = at(second_);
  if (!table_logits_.defined()) {
    return full_precision(network_->forward(torch::cat({one, other}, 2))).log_softmax(2);
  }
  // For each value that an output may have: P_i T P_j. Rows of T sum to one over those values, so the factors do too.
  const auto rows = table().to(beliefs.scalar_type());
  const auto mixed = one.matmul(rows.view({values_, values_ * emitted_}));  // [batch, pairs, values * emitted]
  const auto share = (mixed.view({beliefs.size(0), -1, values_, emitted_}) * other.unsqueeze(3)).sum(2);
  return share.clamp_min(std::numeric_limits<float>::min()).log();
}

torch::Tensor Pairwise::log_prob(const Context& context, const torch::Tensor& values) {
  return factors(context.beliefs).gather(2, values.unsqueeze(2)).squeeze(2).sum(1);
}

std::unique_ptr<Rollout> Pairwise::begin(const Context& context) {
  return std::make_unique<FactorRollout>(factors(context.beliefs));
}

namespace {

ANESI_ARCHITECTURE("pairwise", "one function of two beliefs, shared by all pairs", PairwiseOptions,
                   [](const Problem& problem, const PairwiseOptions& options, bool explains) -> InferenceModel {
                     if (explains) throw UsageError("q.architecture=pairwise only predicts; use q.variant=predict");
                     return {std::make_shared<Pairwise>(problem, options), nullptr};
                   });

}  // namespace
}  // namespace anesi

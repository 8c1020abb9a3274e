#include "count_model.h"

namespace {

// One variable to choose, whose probabilities are known.
class OneChoice final : public anesi::Rollout {
 public:
  explicit OneChoice(torch::Tensor log_probs) : log_probs_(std::move(log_probs)) {}
  torch::Tensor next_log_probs() override { return log_probs_; }
  void advance(const torch::Tensor&) override {}
  void select(const torch::Tensor& rows) override { log_probs_ = log_probs_.index_select(0, rows); }

 private:
  torch::Tensor log_probs_;
};

const anesi::Space& one_output(const anesi::Problem& problem) {
  if (problem.facts().find<CountsOnly>() == nullptr || problem.outputs().variables() != 1) {
    throw anesi::UsageError("architecture count: the problem does not say that its one output depends on a count");
  }
  return problem.outputs();
}

}  // namespace

CountModel::CountModel(const anesi::Problem& problem, const CountOptions& options)
    : SequenceModel(one_output(problem)), value_(problem.facts().find<CountsOnly>()->value) {
  const auto counts = problem.worlds().variables() + 1, values = problem.outputs().domain(0);
  table_logits_ = register_parameter("table", options.spread * torch::randn({counts, values}));
}

torch::Tensor CountModel::log_probs(const torch::Tensor& beliefs) const {
  // The distribution of the count, variable by variable: it stays, or grows by one.
  auto counts = torch::zeros({beliefs.size(0), beliefs.size(1) + 1}, beliefs.options());
  counts.select(1, 0).fill_(1);
  for (const auto& share : beliefs.select(2, value_).unbind(1)) {
    const auto more = torch::constant_pad_nd(counts.slice(1, 0, -1), {1, 0});
    counts = counts * (1 - share).unsqueeze(1) + more * share.unsqueeze(1);
  }
  return counts.matmul(table_logits_.softmax(1).to(beliefs.scalar_type())).log();
}

torch::Tensor CountModel::log_prob(const anesi::Context& context, const torch::Tensor& values) {
  return log_probs(context.beliefs).gather(1, values).squeeze(1);
}

std::unique_ptr<anesi::Rollout> CountModel::begin(const anesi::Context& context) {
  return std::make_unique<OneChoice>(log_probs(context.beliefs));
}

ANESI_ARCHITECTURE("count", "a table over how many variables have a value, multilinear in the beliefs", CountOptions,
                   [](const CountOptions& options, const anesi::Problem& problem,
                      bool explain) -> anesi::InferenceModel {
                     if (explain) throw anesi::UsageError("architecture count only predicts");
                     return {std::make_shared<CountModel>(problem, options), nullptr};
                   });

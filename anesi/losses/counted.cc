#include "anesi/losses/counted.h"

#include <cmath>

#include "anesi/models/sample_tree.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

// A weighted sum over the terms of each row, from the logarithms of the terms, [rows]; -inf where a row has none.
// Differentiable.
torch::Tensor logsumexp_by_row(const torch::Tensor& logs, const torch::Tensor& row, std::int64_t rows) {
  auto largest =
      torch::full({rows}, -INFINITY, logs.options()).scatter_reduce(0, row, logs.detach(), "amax").nan_to_num(0, 0, 0);
  const auto sum = torch::zeros({rows}, logs.options()).index_add(0, row, (logs - largest.index_select(0, row)).exp());
  return sum.log() + largest;
}

class Counting {
 public:
  Counting(const InferenceModel& model, const Problem& problem, std::int64_t samples, const at::Generator& generator,
           const Pruning* pruning)
      : model_(model), problem_(problem), samples_(samples), generator_(generator), pruning_(pruning) {}

  // log p(y|P), [batch].
  torch::Tensor of_outputs(const torch::Tensor& beliefs, const Observations& seen, const torch::Tensor& worlds) const {
    const auto rows = beliefs.size(0);
    const Context context(beliefs.detach(), seen.outputs);
    const auto tree = sample_tree(*model_.explanation, context, samples_, generator_, pruning_);
    const auto& points = tree.points();
    // How often each world is expected among the draws, and how often it was drawn.
    auto row = points.row, drawn_worlds = points.values;
    auto often = points.draws.to(torch::kFloat64);
    auto log_expected = tree.log_prob() + std::log(static_cast<double>(samples_));
    if (worlds.defined()) {
      const torch::NoGradGuard no_gradients;
      const auto is_observed = (drawn_worlds == worlds.index_select(0, row)).all(1);
      log_expected =
          torch::where(is_observed, torch::logaddexp(log_expected, torch::zeros_like(log_expected)), log_expected);
      const auto of_observed = log_prob(*model_.explanation, context, worlds, pruning_).to(torch::kFloat64) +
                               std::log(static_cast<double>(samples_));
      row = torch::cat({row, torch::arange(rows, torch::kInt64)});
      drawn_worlds = torch::cat({drawn_worlds, worlds});
      often = torch::cat({often, torch::ones({rows}, torch::kFloat64)});
      log_expected = torch::cat({log_expected, torch::logaddexp(of_observed, torch::zeros_like(of_observed))});
    }
    const auto told = [&](const torch::Tensor& all) { return all.index_select(0, row); };
    const auto outputs = apply(problem_, drawn_worlds);
    const auto wanted = told(seen.outputs);
    const auto fits = (outputs == wanted).logical_or(wanted == kUnset).all(1).nonzero().squeeze(1);
    row = row.index_select(0, fits);
    const auto log_weights = finite_logs(told(beliefs)).known_log_prob(drawn_worlds.index_select(0, fits)) +
                             (often.log() - log_expected).index_select(0, fits);
    const auto counted = logsumexp_by_row(log_weights, row, rows).to(beliefs.scalar_type());
    const auto missed = counted.detach().isneginf();
    if (!missed.any().item<bool>()) return counted;
    const auto by_q = log_prob(*model_.prediction, beliefs, seen.outputs, pruning_);
    return torch::where(missed, by_q, counted.masked_fill(missed, 0));
  }

 private:
  const InferenceModel& model_;
  const Problem& problem_;
  std::int64_t samples_;
  const at::Generator& generator_;
  const Pruning* pruning_;
};

}  // namespace

torch::Tensor counted_log_prob(const InferenceModel& model, const Problem& problem, const torch::Tensor& beliefs,
                               const Observations& observations, std::int64_t samples, const at::Generator& generator,
                               const Pruning* pruning) {
  TORCH_CHECK(model.explanation, "counted_log_prob: q has no explanation model to draw worlds from");
  const Counting counting(model, problem, samples, generator, pruning);
  return observed_log_prob(
      beliefs, finite_logs(beliefs), observations,
      [&](const torch::Tensor& believed, const Observations& seen) {
        return seen.log_prob(counting.of_outputs(believed, seen, {}));
      },
      [&](const torch::Tensor& believed, const Observations& seen) {
        return finite_logs(believed).known_log_prob(seen.worlds).to(believed.scalar_type()) -
               counting.of_outputs(believed, seen, seen.worlds);
      });
}

}  // namespace anesi

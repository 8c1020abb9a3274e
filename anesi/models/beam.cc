#include "anesi/models/beam.h"

#include <algorithm>

#include "anesi/models/prune_step.h"

namespace anesi {
namespace {

// A beam of width one, without the bookkeeping of wider ones.
Beam greedy(SequenceModel& model, const torch::Tensor& beliefs, const Pruner* pruner) {
  auto rollout = model.begin(beliefs);
  auto values =
      torch::full({beliefs.size(0), model.space().variables()}, kUnset, beliefs.options().dtype(torch::kInt64));
  auto total = torch::zeros({beliefs.size(0)}, beliefs.options());
  for (const auto variable : model.order()) {
    auto log_probs = rollout->next_log_probs();
    if (pruner != nullptr) log_probs = prune_step(log_probs, values, variable, *pruner);
    const auto [best, value] = log_probs.max(1);
    total += best;
    values.select(1, variable).copy_(value);
    rollout->advance(value);
  }
  return {values.unsqueeze(1), total.unsqueeze(1)};
}

}  // namespace

Beam beam_search(SequenceModel& model, const torch::Tensor& beliefs, std::int64_t width, const Pruner* pruner) {
  TORCH_CHECK(width >= 1, "beam_search: a width of ", width, " finds nothing");
  const torch::NoGradGuard no_gradients;
  if (width == 1) return greedy(model, beliefs, pruner);
  const auto batch = beliefs.size(0);
  auto rollout = model.begin(beliefs);
  const auto integers = beliefs.options().dtype(torch::kInt64);
  // Row (example, place) of the beam stands at example * found + place; all examples hold equally many.
  std::int64_t found = 1;
  auto values = torch::full({batch, model.space().variables()}, kUnset, integers);
  auto total = torch::zeros({batch, 1}, beliefs.options());
  const auto first_row = torch::arange(batch, integers).unsqueeze(1);  // of each example, divided by found
  for (const auto variable : model.order()) {
    auto log_probs = rollout->next_log_probs();  // [batch * found, domain]
    if (pruner != nullptr) log_probs = prune_step(log_probs, values, variable, *pruner);
    const auto domain = log_probs.size(1);
    const auto candidates = (total.view({-1, 1}) + log_probs).view({batch, found * domain});
    const auto kept = std::min(width, found * domain);
    torch::Tensor index;  // [batch, kept], of the candidates
    std::tie(total, index) = candidates.topk(kept, 1, /*largest=*/true, /*sorted=*/true);
    // A place that nothing fills follows the best one, at -inf, so that every row stays a prefix that can be completed.
    index = index.where(total.isneginf().logical_not(), index.slice(1, 0, 1));
    const auto value = index.remainder(domain).view(-1);
    const auto rows = (first_row * found + index.div(domain, "floor")).view(-1);
    values = values.index_select(0, rows);
    rollout->select(rows);
    values.select(1, variable).copy_(value);
    rollout->advance(value);
    found = kept;
  }
  return {values.view({batch, found, -1}), total};
}

}  // namespace anesi

#include "anesi/models/beam.h"

#include <algorithm>

#include "anesi/models/next_choice.h"

namespace anesi {
namespace {

// A beam of width one, without the bookkeeping of wider ones.
Beam greedy(SequenceModel& model, const Context& context, const Pruning* pruning) {
  const auto rollout = begin(model, context, pruning);
  const auto options = context.beliefs.options();
  auto values = torch::full({context.size(), model.space().variables()}, kUnset, options.dtype(torch::kInt64));
  auto total = torch::zeros({context.size()}, options);
  for (const auto variable : model.order()) {
    const auto choice = next_choice(*rollout);
    if (choice.all_ended()) return {closed(values).unsqueeze(1), total.unsqueeze(1)};
    const auto [best, place] = choice.log_probs.max(1);
    const auto value = choice.values(place);
    total += best;
    values.select(1, variable).copy_(value);
    rollout->advance(value);
  }
  return {values.unsqueeze(1), total.unsqueeze(1)};
}

struct Continued {
  torch::Tensor values;    // int64 [batch * found, variables]
  torch::Tensor log_prob;  // [batch, found]
  torch::Tensor origin;    // int64 [batch * found]: the row of the context that each continues
};

// Continues rows that stand at `total`, [batch, rows of an example]; the context holds batch * rows of them.
Continued continue_beam(SequenceModel& model, const Context& context, torch::Tensor total, std::int64_t width,
                        const Pruning* pruning) {
  const auto batch = total.size(0);
  const auto integers = context.beliefs.options().dtype(torch::kInt64);
  const auto rollout = begin(model, context, pruning);
  // Row (example, place) of the beam stands at example * found + place; all examples hold equally many.
  auto found = total.size(1);
  auto values = torch::full({batch * found, model.space().variables()}, kUnset, integers);
  auto origin = torch::arange(batch * found, integers);
  const auto first_row = torch::arange(batch, integers).unsqueeze(1);  // of each example, divided by found
  for (const auto variable : model.order()) {
    auto choice = next_choice(*rollout);  // of batch * found rows
    if (choice.all_ended()) return {closed(values), total, origin};
    const auto domain = choice.log_probs.size(1);
    const auto candidates = (total.view({-1, 1}) + choice.log_probs).view({batch, found * domain});
    const auto kept = std::min(width, found * domain);
    torch::Tensor index;  // [batch, kept], of the candidates
    std::tie(total, index) = candidates.topk(kept, 1, /*largest=*/true, /*sorted=*/true);
    // A place that nothing fills follows the best one, at -inf, so that every row stays a prefix that can be completed.
    index = index.where(total.isneginf().logical_not(), index.slice(1, 0, 1));
    const auto rows = (first_row * found + index.div(domain, "floor")).view(-1);
    if (choice.ended.defined()) choice.ended = choice.ended.index_select(0, rows);
    const auto value = choice.values(index.remainder(domain).view(-1));
    values = values.index_select(0, rows);
    origin = origin.index_select(0, rows);
    rollout->select(rows);
    values.select(1, variable).copy_(value);
    rollout->advance(value);
    found = kept;
  }
  return {values, total, origin};
}

}  // namespace

Beam beam_search(SequenceModel& model, const Context& context, std::int64_t width, const Pruning* pruning) {
  TORCH_CHECK(width >= 1, "beam_search: a width of ", width, " finds nothing");
  const torch::NoGradGuard no_gradients;
  if (auto ranked = model.most_probable(context, width)) {
    return {ranked->values, ranked->log_prob.to(context.beliefs.options())};
  }
  if (width == 1) return greedy(model, context, pruning);
  const auto start = torch::zeros({context.size(), 1}, context.beliefs.options());
  const auto found = continue_beam(model, context, start, width, pruning);
  return {found.values.view({context.size(), found.log_prob.size(1), -1}), found.log_prob};
}

JointBeam joint_beam_search(const InferenceModel& model, const torch::Tensor& beliefs, std::int64_t width,
                            const Pruning* pruning) {
  TORCH_CHECK(model.explanation, "joint_beam_search: q has no explanation model");
  const torch::NoGradGuard no_gradients;
  const auto batch = beliefs.size(0);
  const auto outputs = beam_search(*model.prediction, beliefs, width, pruning);
  const auto found = outputs.values.size(1);
  const auto flat_outputs = outputs.values.flatten(0, 1);
  // A place that no output fills stays at -inf; it repeats the best output, which can be explained.
  const auto worlds = continue_beam(*model.explanation, {beliefs.repeat_interleave(found, 0), flat_outputs},
                                    outputs.log_prob, width, pruning);
  const auto kept = worlds.log_prob.size(1);
  return {flat_outputs.index_select(0, worlds.origin).view({batch, kept, -1}), worlds.values.view({batch, kept, -1}),
          worlds.log_prob};
}

Beam explain(SequenceModel& explanation, const Context& context, std::int64_t width, const Pruning* pruning) {
  const torch::NoGradGuard no_gradients;
  auto beam = beam_search(explanation, context, width, pruning);
  // Under pruning a world must be one that the pruner lets pass; the beam's are. Where there is none at all, it is
  // empty.
  if (pruning != nullptr || beam.values.size(1) == 0) return beam;
  const auto best = explanation.most_probable(context);
  if (!best) return beam;
  const auto log_prob = explanation.log_prob(context, best->worlds).to(beam.log_prob.scalar_type());
  const auto there = (beam.values == best->worlds.unsqueeze(1)).all(2).any(1);
  const auto better = (log_prob > beam.log_prob.select(1, 0)).logical_and(there.logical_not());
  if (!better.any().item<bool>()) return beam;
  // The better world goes in front, and the last one out.
  const auto values = torch::cat({best->worlds.unsqueeze(1), beam.values}, 1).slice(1, 0, beam.values.size(1));
  const auto log_probs = torch::cat({log_prob.unsqueeze(1), beam.log_prob}, 1).slice(1, 0, beam.log_prob.size(1));
  return {torch::where(better.view({-1, 1, 1}), values, beam.values),
          torch::where(better.view({-1, 1}), log_probs, beam.log_prob)};
}

}  // namespace anesi

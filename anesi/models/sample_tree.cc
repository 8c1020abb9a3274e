#include "anesi/models/sample_tree.h"

#include "anesi/models/next_choice.h"

namespace anesi {

torch::Tensor SampleTree::log_prob() const {
  torch::Tensor total;
  for (const auto& level : levels) {
    total = total.defined() ? total.index_select(0, level.parent) + level.log_prob : level.log_prob;
  }
  return total;
}

SampleTree sample_tree(SequenceModel& model, const Context& context, std::int64_t samples, at::Generator generator,
                       const Pruning* pruning) {
  const torch::NoGradGuard no_gradients;
  const auto rollout = begin(model, context, pruning);
  const auto rows = context.size();
  SampleTree tree{.levels = {}, .draws = torch::full({rows}, samples, torch::kInt64)};
  auto row = torch::arange(rows, torch::kInt64);
  auto values = torch::full({rows, model.space().variables()}, kUnset, torch::kInt64);
  auto node = row.repeat_interleave(samples);  // of each draw that goes on, int64 [draws]
  for (const auto variable : model.order()) {
    const auto log_probs = next_choice(*rollout).log_probs.to(torch::kCPU, torch::kFloat64);  // [nodes, domain]
    const auto domain = log_probs.size(1);
    const auto offered = log_probs.isneginf().logical_not();
    node = node.index({offered.any(1).index_select(0, node)});
    // The first value up to which the probabilities add up to more than a uniform number. The last that is possible is
    // taken where rounding would leave none.
    const auto up_to = log_probs.exp().cumsum(1);  // [nodes, domain]
    const auto uniform = torch::rand({node.size(0), 1}, generator, torch::kFloat64);
    const auto total = up_to.slice(1, domain - 1).index_select(0, node);
    const auto last = (up_to < up_to.slice(1, domain - 1)).sum(1).index_select(0, node);
    const auto chosen = (up_to.index_select(0, node) <= uniform * total).sum(1).minimum(last);
    const auto [key, continued, draws] = torch::_unique2(node * domain + chosen, /*sorted=*/true,
                                                         /*return_inverse=*/true, /*return_counts=*/true);
    const auto parent = key.div(domain, "floor"), value = key.remainder(domain);
    row = row.index_select(0, parent);
    values = values.index_select(0, parent);
    values.select(1, variable).copy_(value);
    tree.levels.push_back({.parent = parent,
                           .row = row,
                           .values = values,
                           .log_prob = log_probs.flatten().index_select(0, key),
                           .draws = draws,
                           .offered = offered});
    rollout->select(parent.to(context.beliefs.device()));
    rollout->advance(value.to(context.beliefs.device()));
    node = continued;
  }
  return tree;
}

}  // namespace anesi

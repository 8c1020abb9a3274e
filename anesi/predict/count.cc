#include "anesi/predict/count.h"

#include <algorithm>
#include <cmath>

#include "anesi/models/sample_tree.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

constexpr double kDeviationsOf95Percent = 1.96;

// Of log q(w|y,P) and log p(w|P), which are sums over the variables of what was computed in 32 bits.
double rounding_of(std::int64_t variables) {
  constexpr double kLeast = 1e-6, kOfOneVariable = 2.4e-7;
  return std::max(kLeast, kOfOneVariable * static_cast<double>(variables));
}

// Sums over the terms of each row, double [rows].
torch::Tensor sum_by_row(const torch::Tensor& terms, const torch::Tensor& row, std::int64_t rows) {
  return torch::zeros({rows}, torch::kFloat64).index_add(0, row, terms);
}

torch::Tensor largest_by_row(const torch::Tensor& logs, const torch::Tensor& row, std::int64_t rows) {
  const auto largest = torch::full({rows}, -INFINITY, torch::kFloat64).scatter_reduce(0, row, logs, "amax");
  return largest.masked_fill(largest.isneginf(), 0);
}

}  // namespace

DrawnWorlds draw_worlds(SequenceModel& explanation, const Context& context, std::int64_t samples,
                        at::Generator generator, const Pruning* pruning) {
  const torch::NoGradGuard no_gradients;
  const auto tree = sample_tree(explanation, context, samples, std::move(generator), pruning);
  const auto& points = tree.points();
  return {points.values, points.row, points.draws.to(torch::kFloat64), tree.log_prob(), context.size(), samples};
}

CountEstimate estimate_log_sum(const DrawnWorlds& drawn, const torch::Tensor& log_weight) {
  TORCH_CHECK(drawn.samples >= 2, "estimate_log_sum: ", drawn.samples, " samples tell nothing of their spread");
  const auto& [worlds, row, often, log_q, rows, samples] = drawn;
  const auto number = static_cast<double>(samples);
  const auto log_ratio = log_weight - log_q;
  const auto scale = largest_by_row(log_ratio, row, rows);
  const auto ratio = (log_ratio - scale.index_select(0, row)).exp();
  const auto sum = sum_by_row(ratio * often, row, rows), squares = sum_by_row(ratio.square() * often, row, rows);
  const auto mean = sum / number;
  // Of draws that were lost there is no world, and they are as far from the mean as it is large.
  const auto found_draws = sum_by_row(often, row, rows);
  const auto spread = sum_by_row((ratio - mean.index_select(0, row)).square() * often, row, rows) +
                      (number - found_draws) * mean.square();
  const auto nothing = sum == 0;
  CountEstimate estimate;
  estimate.log_mean = mean.log() + scale;
  estimate.error = ((spread / (number - 1) / number).sqrt() / mean).masked_fill(nothing, INFINITY);
  estimate.effective = (sum.square() / squares).masked_fill(nothing, 0);
  estimate.lost = 1 - sum_by_row(often.masked_fill(log_ratio.isneginf(), 0), row, rows) / number;
  const auto scale_of_found = largest_by_row(log_weight, row, rows);
  const auto found =
      sum_by_row((log_weight - scale_of_found.index_select(0, row)).exp(), row, rows).log() + scale_of_found;
  estimate.log_prob = estimate.log_mean.clamp_max(0).maximum(found);
  const auto rounding = rounding_of(worlds.size(1));
  const auto width = kDeviationsOf95Percent * estimate.error + rounding;
  const auto low = (estimate.log_mean - width).masked_fill(nothing, -INFINITY);
  const auto high = (estimate.log_mean + width).masked_fill(nothing, 0);
  estimate.low = low.maximum(found - rounding).minimum(estimate.log_prob);
  estimate.high = high.clamp_max(rounding).maximum(estimate.log_prob + rounding);
  return estimate;
}

CountEstimate estimate_log_prob(SequenceModel& explanation, const Problem& problem, const Context& context,
                                std::int64_t samples, at::Generator generator, const Pruning* pruning) {
  TORCH_CHECK(context.explains(), "estimate_log_prob: the context tells no outputs");
  const torch::NoGradGuard no_gradients;
  const auto drawn = draw_worlds(explanation, context, samples, std::move(generator), pruning);
  const auto told = [&](const torch::Tensor& all) { return all.to(torch::kCPU).index_select(0, drawn.row); };
  const auto asked = told(context.outputs);
  const auto outputs = apply(problem, drawn.worlds);
  const auto wrong = (outputs != asked).logical_and(asked != kUnset).any(1);
  const auto log_p = world_log_prob(told(context.beliefs).to(torch::kFloat64), drawn.worlds);
  return estimate_log_sum(drawn, log_p.masked_fill(wrong, -INFINITY));
}

}  // namespace anesi

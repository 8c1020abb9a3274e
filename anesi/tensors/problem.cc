#include "anesi/tensors/problem.h"

#include "anesi/core/score.h"
#include "anesi/core/thread_pool.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// One setting governs torch's threads and ours.
[[maybe_unused]] const bool threads_are_torchs =
    (take_thread_count_from([] { return static_cast<std::int64_t>(torch::get_num_threads()); }), true);

torch::Tensor as_rows(const torch::Tensor& points) { return points.to(torch::kCPU, torch::kInt64).contiguous(); }

torch::Tensor index_of(const std::vector<std::int64_t>& variables, const torch::Tensor& like) {
  return tensor_of(variables).to(like.device());
}

}  // namespace

torch::Tensor apply(const Problem& problem, const torch::Tensor& worlds) {
  const auto rows = as_rows(worlds);
  auto outputs = torch::full({rows.size(0), problem.outputs().variables()}, kNone, torch::kInt64);
  TORCH_CHECK(rows.dim() == 2 && rows.size(1) == problem.worlds().variables() && worlds.scalar_type() == torch::kInt64,
              "apply: worlds must be int64 [batch, ", problem.worlds().variables(), "], got ", worlds.scalar_type(),
              " ", worlds.sizes());
  problem.apply(rows_of(rows), mutable_rows_of(outputs));
  return outputs.to(worlds.device());
}

torch::Tensor regret(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto in = as_rows(worlds), out = as_rows(outputs);
  return torch::tensor(regret(problem, rows_of(in), rows_of(out))).to(outputs.device());
}

torch::Tensor distance(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs,
                       const torch::Tensor& wanted) {
  const auto in = as_rows(worlds), out = as_rows(outputs), goal = as_rows(wanted);
  return torch::tensor(distance(problem, rows_of(in), rows_of(out), rows_of(goal))).to(outputs.device());
}

torch::Tensor look_up(const OutputTables& tables, const torch::Tensor& worlds, const Space& space) {
  const auto rows = as_rows(worlds);
  return tensor_of(look_up(tables, rows_of(rows), space).rows()).to(worlds.device());
}

torch::Tensor trace_of(const Trace& trace, const torch::Tensor& worlds) {
  const auto rows = as_rows(worlds);
  return tensor_of(trace.of(rows_of(rows)).rows()).to(worlds.device());
}

torch::Tensor draw_known(const KnownVariables& known, std::int64_t count, at::Generator generator) {
  Random random(draw_seed(std::move(generator)));
  auto values = torch::empty({count, std::ssize(known.variables)}, torch::kInt64);
  const auto rows = mutable_rows_of(values);
  for (std::int64_t row = 0; row < count; ++row) known.draw(random, rows[row]);
  return values;
}

torch::Tensor complete_beliefs(const KnownVariables& known, const torch::Tensor& of_others, const torch::Tensor& values,
                               const Space& worlds) {
  const auto width = worlds.largest_domain();
  const auto certain = torch::one_hot(values, width).to(of_others.options());
  const auto padded = torch::constant_pad_nd(of_others, {0, width - of_others.size(2)});
  return torch::zeros({of_others.size(0), worlds.variables(), width}, of_others.options())
      .index_copy(1, index_of(known.variables, of_others), certain)
      .index_copy(1, index_of(known.others(worlds), of_others), padded);
}

torch::Tensor complete_worlds(const KnownVariables& known, const torch::Tensor& of_others, const torch::Tensor& values,
                              const Space& worlds) {
  return torch::empty({of_others.size(0), worlds.variables()}, of_others.options())
      .index_copy_(1, index_of(known.variables, of_others), values)
      .index_copy_(1, index_of(known.others(worlds), of_others), of_others);
}

torch::Tensor beliefs_in_others(const KnownVariables& known, const torch::Tensor& beliefs, const Space& worlds) {
  return beliefs.index_select(1, index_of(known.others(worlds), beliefs))
      .slice(2, 0, known.space_of_others(worlds).largest_domain());
}

}  // namespace anesi

#include "anesi/models/transducer_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"
#include "anesi/exact/planned_step.h"

namespace anesi {
namespace {

// The three inner loops, in 32 bits for learned tables and in 64 for those of an automaton.

// result += weight * row, over `size` numbers.
template <typename Real>
[[gnu::always_inline]] inline void add_scaled_loop(Real* __restrict result, const Real* __restrict row, Real weight,
                                                   std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) result[i] += weight * row[i];
}
ANESI_VECTORIZED void add_scaled(float* result, const float* row, float weight, std::int64_t size) {
  add_scaled_loop(result, row, weight, size);
}
ANESI_VECTORIZED void add_scaled(double* result, const double* row, double weight, std::int64_t size) {
  add_scaled_loop(result, row, weight, size);
}

// result = sum over combinations of weights[c] * rows[c], rows being [combinations, size].
template <typename Real>
[[gnu::always_inline]] inline void mix_loop(Real* __restrict result, const Real* __restrict rows,
                                            const Real* __restrict weights, std::int64_t combinations,
                                            std::int64_t size) {
  std::fill(result, result + size, Real{0});
  for (std::int64_t c = 0; c < combinations; ++c) {
    if (weights[c] != 0) add_scaled_loop(result, rows + c * size, weights[c], size);
  }
}
ANESI_VECTORIZED void mix(float* result, const float* rows, const float* weights, std::int64_t combinations,
                          std::int64_t size) {
  mix_loop(result, rows, weights, combinations, size);
}
ANESI_VECTORIZED void mix(double* result, const double* rows, const double* weights, std::int64_t combinations,
                          std::int64_t size) {
  mix_loop(result, rows, weights, combinations, size);
}

// result[c] = <rows[c], vector>.
template <typename Real>
[[gnu::always_inline]] inline void dot_rows_loop(Real* __restrict result, const Real* __restrict rows,
                                                 const Real* __restrict vector, std::int64_t combinations,
                                                 std::int64_t size) {
  for (std::int64_t c = 0; c < combinations; ++c) {
    const Real* const row = rows + c * size;
    Real sum = 0;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < size; ++i) sum += row[i] * vector[i];
    result[c] = sum;
  }
}
ANESI_VECTORIZED void dot_rows(float* result, const float* rows, const float* vector, std::int64_t combinations,
                               std::int64_t size) {
  dot_rows_loop(result, rows, vector, combinations, size);
}
ANESI_VECTORIZED void dot_rows(double* result, const double* rows, const double* vector, std::int64_t combinations,
                               std::int64_t size) {
  dot_rows_loop(result, rows, vector, combinations, size);
}

struct Plan {
  explicit Plan(const ReadingOrder& reading) : steps(planned_steps(reading)) {
    for (const auto& step : steps) {
      for (std::size_t index = 0; index < step.reads.size(); ++index) {
        worlds = std::max(worlds, step.reads[index] + 1);
        largest_domain = std::max(largest_domain, step.domains[index]);
      }
      largest_combinations = std::max(largest_combinations, step.combinations);
    }
  }

  // Rows that make it worth waking another thread: about a tenth of a millisecond of arithmetic.
  std::int64_t grain(std::int64_t states) const {
    constexpr std::int64_t kWork = 1 << 20;
    return std::max<std::int64_t>(
        1, kWork / (static_cast<std::int64_t>(steps.size()) * largest_combinations * states * states));
  }

  void check(const torch::Tensor& beliefs) const {
    if (beliefs.dim() != 3 || beliefs.size(1) < worlds || beliefs.size(2) < largest_domain) {
      throw Error(fmt::format("transducer: beliefs of shape ({}); it reads {} variables of up to {} values",
                              fmt::join(beliefs.sizes(), ", "), worlds, largest_domain));
    }
  }

  // What a step emits, from a row of values; throws where that is no value of the output variable. A value that is left
  // open stands one past the last, where the tables hold the sum of all.
  static std::int64_t emission(const PlannedStep& step, const std::int64_t* values) {
    if (step.emits < 0) return 0;
    const auto y = values[step.emits];
    if (y == kUnset) return step.emitted;
    if (y < 0 || y >= step.emitted) {
      throw Error(
          fmt::format("transducer: output variable {} is {}; it can be 0 to {}", step.emits, y, step.emitted - 1));
    }
    return y;
  }

  std::vector<PlannedStep> steps;
  std::int64_t largest_combinations = 1, worlds = 0, largest_domain = 0;
};

// Carries the plan from forward to backward.
struct PlanHolder : torch::CustomClassHolder {
  explicit PlanHolder(std::shared_ptr<const Plan> held) : plan(std::move(held)) {}
  std::shared_ptr<const Plan> plan;
};

template <typename Real>
class Filter : public torch::autograd::Function<Filter<Real>> {
 public:
  // tables are flattened into one vector, kind after kind, because a custom function wants a fixed list of arguments.
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& beliefs,
                               const torch::Tensor& values, const torch::Tensor& initial, const torch::Tensor& tables,
                               const std::shared_ptr<const Plan>& plan, const std::vector<std::int64_t>& offsets) {
    const auto batch = beliefs.size(0), width = beliefs.size(2), row_size = beliefs.size(1) * width;
    const auto states = initial.size(0), square = states * states, outputs = values.size(1);
    const auto steps = static_cast<std::int64_t>(plan->steps.size());
    auto result = torch::empty({batch}, beliefs.options());
    auto filtered = torch::empty({batch, steps + 1, states}, beliefs.options());  // h before each step, and at the end
    auto moves = torch::empty({batch, steps, square}, beliefs.options());         // each step's mixed table at its y
    auto normalisers = torch::empty({batch, steps}, beliefs.options());

    const auto* const belief = beliefs.const_data_ptr<Real>();
    const auto* const value = values.const_data_ptr<std::int64_t>();
    const auto* const table = tables.const_data_ptr<Real>();
    const auto* const start = initial.const_data_ptr<Real>();
    auto* const h_all = filtered.mutable_data_ptr<Real>();
    auto* const move_all = moves.mutable_data_ptr<Real>();
    auto* const t_all = normalisers.mutable_data_ptr<Real>();
    auto* const out = result.mutable_data_ptr<Real>();

    parallel_for(batch, plan->grain(states), [&](std::int64_t begin, std::int64_t end) {
      std::vector<Real> weights(static_cast<std::size_t>(plan->largest_combinations));
      for (auto b = begin; b < end; ++b) {
        Real* h = h_all + b * (steps + 1) * states;
        std::copy(start, start + states, h);
        double total = 0;
        for (std::int64_t i = 0; i < steps; ++i) {
          const auto& step = plan->steps[static_cast<std::size_t>(i)];
          const auto y = Plan::emission(step, value + b * outputs);
          const Real* const slice =
              table + offsets[static_cast<std::size_t>(step.kind)] + y * step.combinations * square;
          Real* const move = move_all + (b * steps + i) * square;
          combination_weights(step, belief + b * row_size, width, weights);
          mix(move, slice, weights.data(), step.combinations, square);
          Real* const next = h + states;
          std::fill(next, next + states, Real{0});
          for (std::int64_t from = 0; from < states; ++from) add_scaled(next, move + from * states, h[from], states);
          Real t = 0;
          for (std::int64_t to = 0; to < states; ++to) t += next[to];
          t_all[b * steps + i] = t;
          total += std::log(static_cast<double>(t));
          // Where y is impossible, t is 0 and the result -inf; the state no longer matters.
          for (std::int64_t to = 0; to < states; ++to) next[to] = t > 0 ? next[to] / t : 1 / static_cast<Real>(states);
          h = next;
        }
        out[b] = static_cast<Real>(total);
      }
    });
    context->save_for_backward({beliefs, values, tables, filtered, moves, normalisers});
    context->saved_data["offsets"] = offsets;
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<PlanHolder>(plan));
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto &beliefs = saved[0], &values = saved[1], &tables = saved[2], &filtered = saved[3], &moves = saved[4],
               &normalisers = saved[5];
    const auto plan = c10::static_intrusive_pointer_cast<PlanHolder>(context->saved_data["plan"].toCapsule())->plan;
    const auto offsets = context->saved_data["offsets"].toIntVector();
    const bool want_beliefs = context->needs_input_grad(0), want_initial = context->needs_input_grad(2),
               want_tables = context->needs_input_grad(3);
    const auto batch = beliefs.size(0), width = beliefs.size(2), row_size = beliefs.size(1) * width;
    const auto states = filtered.size(2), square = states * states, outputs = values.size(1);
    const auto steps = static_cast<std::int64_t>(plan->steps.size());
    const auto grain = plan->grain(states);
    const auto pieces = parallel_pieces(batch, grain);

    auto belief_gradient = want_beliefs ? torch::zeros_like(beliefs) : torch::Tensor();
    // One accumulator a piece, added up in a fixed order, so that the sum does not depend on timing.
    auto initial_gradients = torch::zeros({pieces, states}, beliefs.options());
    auto table_gradients = want_tables ? torch::zeros({pieces, tables.size(0)}, beliefs.options()) : torch::Tensor();

    const auto upstream_rows = upstream[0].contiguous();
    const auto* const scale = upstream_rows.const_data_ptr<Real>();
    const auto* const belief = beliefs.const_data_ptr<Real>();
    const auto* const value = values.const_data_ptr<std::int64_t>();
    const auto* const table = tables.const_data_ptr<Real>();
    const auto* const h_all = filtered.const_data_ptr<Real>();
    const auto* const move_all = moves.const_data_ptr<Real>();
    const auto* const t_all = normalisers.const_data_ptr<Real>();
    auto* const belief_out = want_beliefs ? belief_gradient.mutable_data_ptr<Real>() : nullptr;
    auto* const initial_out = initial_gradients.mutable_data_ptr<Real>();
    auto* const table_out = want_tables ? table_gradients.mutable_data_ptr<Real>() : nullptr;

    parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {
      const auto piece = begin == 0 ? 0 : (begin * pieces + batch - 1) / batch;
      std::vector<Real> weights(static_cast<std::size_t>(plan->largest_combinations)), weight_gradient(weights);
      std::vector<Real> h_gradient(static_cast<std::size_t>(states)), k_gradient(h_gradient);
      std::vector<Real> move_gradient(static_cast<std::size_t>(square));
      for (auto b = begin; b < end; ++b) {
        std::fill(h_gradient.begin(), h_gradient.end(), Real{0});
        for (auto i = steps - 1; i >= 0; --i) {
          const auto& step = plan->steps[static_cast<std::size_t>(i)];
          const Real t = t_all[b * steps + i];
          const Real* const h = h_all + (b * (steps + 1) + i) * states;
          const Real* const next = h + states;
          const Real* const move = move_all + (b * steps + i) * square;
          if (!(t > 0)) {  // log 0: no direction leads out
            std::fill(h_gradient.begin(), h_gradient.end(), Real{0});
            continue;
          }
          // next = k / t and the loss gains log t, with t the sum of k.
          Real inner = 0;
          for (std::int64_t to = 0; to < states; ++to) inner += h_gradient[static_cast<std::size_t>(to)] * next[to];
          for (std::int64_t to = 0; to < states; ++to) {
            k_gradient[static_cast<std::size_t>(to)] =
                (h_gradient[static_cast<std::size_t>(to)] - inner + scale[b]) / t;
          }
          for (std::int64_t from = 0; from < states; ++from) {
            Real sum = 0;
            for (std::int64_t to = 0; to < states; ++to) {
              const auto k = k_gradient[static_cast<std::size_t>(to)];
              sum += move[from * states + to] * k;
              move_gradient[static_cast<std::size_t>(from * states + to)] = h[from] * k;
            }
            h_gradient[static_cast<std::size_t>(from)] = sum;
          }
          const auto y = Plan::emission(step, value + b * outputs);
          const auto slice = offsets[static_cast<std::size_t>(step.kind)] + y * step.combinations * square;
          if (want_beliefs && !step.reads.empty()) {
            dot_rows(weight_gradient.data(), table + slice, move_gradient.data(), step.combinations, square);
            combination_weights_backward(step, belief + b * row_size, width, weight_gradient,
                                         belief_out + b * row_size);
          }
          if (want_tables) {
            combination_weights(step, belief + b * row_size, width, weights);
            Real* const rows = table_out + piece * tables.size(0) + slice;
            for (std::int64_t c = 0; c < step.combinations; ++c) {
              const Real weight = weights[static_cast<std::size_t>(c)];
              if (weight != 0) add_scaled(rows + c * square, move_gradient.data(), weight, square);
            }
          }
        }
        for (std::int64_t state = 0; state < states; ++state) {
          initial_out[piece * states + state] += h_gradient[static_cast<std::size_t>(state)];
        }
      }
    });
    return {belief_gradient,
            torch::Tensor(),
            want_initial ? initial_gradients.sum(0) : torch::Tensor(),
            want_tables ? table_gradients.sum(0) : torch::Tensor(),
            torch::Tensor(),
            torch::Tensor()};
  }
};

}  // namespace

torch::Tensor filter_log_prob(const torch::Tensor& beliefs, const torch::Tensor& values, const torch::Tensor& initial,
                              const std::vector<torch::Tensor>& tables, const ReadingOrder& reading) {
  const auto plan = std::make_shared<const Plan>(reading);
  plan->check(beliefs);
  if (values.dim() != 2 || values.size(0) != beliefs.size(0)) {
    throw Error(fmt::format("transducer: outputs of shape ({}) for {} beliefs", fmt::join(values.sizes(), ", "),
                            beliefs.size(0)));
  }
  const bool open = (values == kUnset).any().item<bool>();
  std::vector<torch::Tensor> flat;
  std::vector<std::int64_t> offsets;
  std::int64_t offset = 0;
  for (const auto& table : tables) {
    flat.push_back((open ? torch::cat({table, table.sum(0, /*keepdim=*/true)}) : table).reshape(-1).to(torch::kCPU));
    offsets.push_back(offset);
    offset += flat.back().numel();
  }
  const auto type = initial.scalar_type();
  const auto run = [&]<typename Real>(Real) {
    return Filter<Real>::apply(beliefs.to(torch::kCPU, type).contiguous(), values.to(torch::kCPU).contiguous(),
                               initial.to(torch::kCPU).contiguous(), torch::cat(flat), plan, offsets)
        .to(beliefs.device());
  };
  return type == torch::kFloat64 ? run(double{}) : run(float{});
}

std::vector<torch::Tensor> mix_tables(const torch::Tensor& beliefs, const std::vector<torch::Tensor>& tables,
                                      const ReadingOrder& reading) {
  const Plan plan(reading);
  plan.check(beliefs);
  const auto rows = beliefs.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto batch = rows.size(0), width = rows.size(2), row_size = rows.size(1) * width;
  const auto* const belief = rows.const_data_ptr<float>();
  std::vector<torch::Tensor> mixed;
  for (const auto& step : plan.steps) {
    const auto table = tables[static_cast<std::size_t>(step.kind)].to(torch::kCPU, torch::kFloat32).contiguous();
    const auto emitted = table.size(0), square = table.size(2) * table.size(3);
    const auto* const in = table.const_data_ptr<float>();
    auto result = torch::empty({batch, emitted, table.size(2), table.size(3)}, rows.options());
    auto* const out = result.mutable_data_ptr<float>();
    parallel_for(batch, plan.grain(table.size(2)), [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> weights(static_cast<std::size_t>(step.combinations));
      for (auto b = begin; b < end; ++b) {
        combination_weights(step, belief + b * row_size, width, weights);
        for (std::int64_t y = 0; y < emitted; ++y) {
          mix(out + (b * emitted + y) * square, in + y * step.combinations * square, weights.data(), step.combinations,
              square);
        }
      }
    });
    mixed.push_back(result);
  }
  return mixed;
}

}  // namespace anesi

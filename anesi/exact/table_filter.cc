#include "anesi/exact/table_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"
#include "anesi/exact/finite_state.h"

namespace anesi {
namespace {

// The inner loops.

// result += weight * row, over `size` numbers.
template <typename Real>
[[gnu::always_inline]] inline void add_scaled(Real* __restrict result, const Real* __restrict row, Real weight,
                                              std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) result[i] += weight * row[i];
}

// result = sum over combinations of weights[c] * rows[c], rows being [combinations, size].
template <typename Real>
[[gnu::always_inline]] inline void mix(Real* __restrict result, const Real* __restrict rows,
                                       const Real* __restrict weights, std::int64_t combinations, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) result[i] = 0;
  for (std::int64_t c = 0; c < combinations; ++c) {
    if (weights[c] != 0) add_scaled(result, rows + c * size, weights[c], size);
  }
}

// The sum of products, in sixteen parts, so that it is vectorised.
template <typename Real>
[[gnu::always_inline]] inline Real dot(const Real* __restrict a, const Real* __restrict b, std::int64_t size) {
  constexpr std::int64_t kParts = 16;
  Real sum = 0;
  std::int64_t i = 0;
  if (size >= kParts) {
    Real parts[kParts] = {};
    for (; i + kParts <= size; i += kParts) {
      for (std::int64_t part = 0; part < kParts; ++part) parts[part] += a[i + part] * b[i + part];
    }
    for (const Real part : parts) sum += part;
  }
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

// result[i, j] = factor * a[i] * b[j].
template <typename Real>
[[gnu::always_inline]] inline void outer(Real* __restrict result, const Real* __restrict a, const Real* __restrict b,
                                         Real factor, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) {
    const Real scaled = factor * a[i];
    for (std::int64_t j = 0; j < size; ++j) result[i * size + j] = scaled * b[j];
  }
}

// One row's part in finite_state.h.
template <typename Real>
struct TableMoves {
  TableMoves(const std::vector<PlannedStep>& steps, std::int64_t states, std::int64_t width, std::size_t combinations)
      : planned(steps),
        states_of_each(states),
        width_of_beliefs(width),
        tables(steps.size()),
        weights(combinations),
        weight_gradient(combinations),
        move_gradient(as_size(states * states)) {}

  const std::vector<PlannedStep>& planned;
  std::int64_t states_of_each, width_of_beliefs;
  const Real* beliefs = nullptr;  // [variables, width]
  Real *all_states = nullptr, *all_moves = nullptr, *totals = nullptr;
  std::vector<const Real*> tables;  // of each step, of what it must emit, [combinations, states, next states]

  // For backward.
  Real factor = 0;
  Real* messages = nullptr;  // [steps + 1, states], what comes back to the states before each step and at the end
  Real* belief_gradient = nullptr;  // null if not asked for

  std::vector<Real> weights, weight_gradient, move_gradient;  // room to work in

  std::int64_t steps() const { return std::ssize(planned); }
  std::int64_t width(std::int64_t) const { return states_of_each; }
  Real* states(std::int64_t step) const { return all_states + step * states_of_each; }
  Real* total(std::int64_t step) const { return totals + step; }

  [[gnu::always_inline]] void forward(std::int64_t index, const Real* here, Real* next) {
    const auto& step = planned[as_size(index)];
    const auto square = states_of_each * states_of_each;
    Real* const move = all_moves + index * square;
    combination_weights(step, beliefs, width_of_beliefs, weights);
    mix(move, tables[as_size(index)], weights.data(), step.combinations, square);
    for (std::int64_t to = 0; to < states_of_each; ++to) next[to] = 0;
    for (std::int64_t from = 0; from < states_of_each; ++from) {
      add_scaled(next, move + from * states_of_each, here[from], states_of_each);
    }
  }

  [[gnu::always_inline]] void backward(std::int64_t index, const Real* here, const Real* later, Real* before) {
    const auto& step = planned[as_size(index)];
    const auto square = states_of_each * states_of_each;
    const Real* const move = all_moves + index * square;
    for (std::int64_t state = 0; state < states_of_each; ++state) {
      before[state] = dot(move + state * states_of_each, later, states_of_each);
      messages[(index + 1) * states_of_each + state] = later[state];
    }
    if (belief_gradient == nullptr || step.reads.empty()) return;
    outer(move_gradient.data(), here, later, factor, states_of_each);
    for (std::int64_t c = 0; c < step.combinations; ++c) {
      weight_gradient[as_size(c)] = dot(tables[as_size(index)] + c * square, move_gradient.data(), square);
    }
    combination_weights_backward(step, beliefs, width_of_beliefs, weight_gradient, belief_gradient);
  }
};

// Templates are not compiled for several instruction sets.
ANESI_VECTORIZED void run_forward(TableMoves<float>& moves) { filter_forward<float>(moves); }
ANESI_VECTORIZED void run_forward(TableMoves<double>& moves) { filter_forward<double>(moves); }
ANESI_VECTORIZED void run_backward(TableMoves<float>& moves, float*& after, float*& before) {
  filter_backward<float>(moves, after, before);
}
ANESI_VECTORIZED void run_backward(TableMoves<double>& moves, double*& after, double*& before) {
  filter_backward<double>(moves, after, before);
}
ANESI_VECTORIZED void mix_one(float* result, const float* rows, const float* weights, std::int64_t combinations,
                              std::int64_t size) {
  mix(result, rows, weights, combinations, size);
}

// Adds weights[c] * row to each rows[c], of combinations from `begin` to `end`.
template <typename Real>
[[gnu::always_inline]] inline void scatter_loop(Real* rows, const Real* row, const Real* weights, std::int64_t begin,
                                                std::int64_t end, std::int64_t size) {
  for (auto c = begin; c < end; ++c) {
    if (weights[c] != 0) add_scaled(rows + c * size, row, weights[c], size);
  }
}
ANESI_VECTORIZED void scatter(float* rows, const float* row, const float* weights, std::int64_t begin, std::int64_t end,
                              std::int64_t size) {
  scatter_loop(rows, row, weights, begin, end, size);
}
ANESI_VECTORIZED void scatter(double* rows, const double* row, const double* weights, std::int64_t begin,
                              std::int64_t end, std::int64_t size) {
  scatter_loop(rows, row, weights, begin, end, size);
}

// How much arithmetic makes it worth waking another thread: about a tenth of a millisecond.
constexpr std::int64_t kWork = 1 << 20;

}  // namespace

void check_read(const std::vector<PlannedStep>& steps, std::int64_t variables, std::int64_t width) {
  std::int64_t read = 0, largest_domain = 0;
  for (const auto& step : steps) {
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      read = std::max(read, step.reads[index] + 1);
      largest_domain = std::max(largest_domain, step.domains[index]);
    }
  }
  if (variables >= read && width >= largest_domain) return;
  throw Error(fmt::format("transducer: beliefs of {} variables of {} values; it reads {} variables of up to {} values",
                          variables, width, read, largest_domain));
}

template <typename Real>
TableFilter<Real>::TableFilter(const ReadingOrder& reading, Machine machine, const Batch& batch)
    : steps_(planned_steps(reading)),
      machine_(std::move(machine)),
      batch_(batch),
      states_(std::ssize(machine_.initial)),
      square_(states_ * states_),
      open_(machine_.tables.size()) {
  check_read(steps_, batch.variables, batch.width);
  if (batch.outputs.size() != batch.size || batch.outputs.width() != std::ssize(reading.emitted())) {
    throw Error(fmt::format("transducer: outputs of shape ({}, {}) for {} beliefs; it emits {}", batch.outputs.size(),
                            batch.outputs.width(), batch.size, reading.emitted().size()));
  }
  for (const auto& step : steps_) {
    combinations_ = std::max(combinations_, as_size(step.combinations));
    for (std::int64_t row = 0; row < batch.size && step.emits >= 0; ++row) {
      const auto y = emission(step, row);
      if (y != kUnset && (y < 0 || y >= step.emitted)) {
        throw Error(
            fmt::format("transducer: output variable {} is {}; it can be 0 to {}", step.emits, y, step.emitted - 1));
      }
      auto& open = open_[as_size(step.kind)];
      if (y != kUnset || !open.empty()) continue;
      const auto size = step.combinations * square_;
      open.assign(as_size(size), 0);
      for (std::int64_t value = 0; value < step.emitted; ++value) {
        add_scaled(open.data(), machine_.tables[as_size(step.kind)] + value * size, Real{1}, size);
      }
    }
  }
}

template <typename Real>
std::int64_t TableFilter<Real>::grain() const {
  return std::max<std::int64_t>(1, kWork / (std::ssize(steps_) * static_cast<std::int64_t>(combinations_) * square_));
}

template <typename Real>
std::int64_t TableFilter<Real>::emission(const PlannedStep& step, std::int64_t row) const {
  return step.emits < 0 ? 0 : batch_.outputs[row][as_size(step.emits)];
}

template <typename Real>
const Real* TableFilter<Real>::table(const PlannedStep& step, std::int64_t row) const {
  const auto y = emission(step, row);
  if (y == kUnset) return open_[as_size(step.kind)].data();
  return machine_.tables[as_size(step.kind)] + y * step.combinations * square_;
}

template <typename Real>
template <typename Moves>
void TableFilter<Real>::go_to(Moves& moves, std::int64_t row) {
  const auto steps = std::ssize(steps_);
  moves.beliefs = batch_.beliefs + row * batch_.variables * batch_.width;
  moves.all_states = filtered_.data() + row * (steps + 1) * states_;
  moves.all_moves = moves_.data() + row * steps * square_;
  moves.totals = totals_.data() + row * steps;
  for (std::size_t step = 0; step < steps_.size(); ++step) moves.tables[step] = table(steps_[step], row);
}

template <typename Real>
void TableFilter<Real>::log_prob(std::span<Real> log_probs) {
  const auto steps = std::ssize(steps_);
  filtered_.resize(as_size(batch_.size * (steps + 1) * states_));
  moves_.resize(as_size(batch_.size * steps * square_));
  totals_.resize(as_size(batch_.size * steps));
  parallel_for(batch_.size, grain(), [&](std::int64_t begin, std::int64_t end) {
    TableMoves<Real> moves(steps_, states_, batch_.width, combinations_);
    for (auto row = begin; row < end; ++row) {
      go_to(moves, row);
      std::ranges::copy(machine_.initial, moves.all_states);
      run_forward(moves);
      double sum = 0;
      for (std::int64_t step = 0; step < steps; ++step) sum += std::log(static_cast<double>(moves.totals[step]));
      log_probs[as_size(row)] = static_cast<Real>(sum);
    }
  });
}

template <typename Real>
void TableFilter<Real>::add_gradients(std::span<const Real> factors, const Gradients& gradients) {
  const auto steps = std::ssize(steps_);
  messages_.resize(as_size(batch_.size * (steps + 1) * states_));
  parallel_for(batch_.size, grain(), [&](std::int64_t begin, std::int64_t end) {
    TableMoves<Real> moves(steps_, states_, batch_.width, combinations_);
    std::vector<Real> first(as_size(states_)), second(first);
    for (auto row = begin; row < end; ++row) {
      go_to(moves, row);
      moves.factor = factors[as_size(row)];
      moves.messages = messages_.data() + row * (steps + 1) * states_;
      if (gradients.beliefs != nullptr) {
        moves.belief_gradient = gradients.beliefs + row * batch_.variables * batch_.width;
      }
      std::ranges::fill(first, Real{1});
      auto *after = first.data(), *before = second.data();
      run_backward(moves, after, before);
      std::copy_n(after, states_, moves.messages);
    }
  });
  if (gradients.initial != nullptr) {
    for (std::int64_t row = 0; row < batch_.size; ++row) {
      add_scaled(gradients.initial, messages_.data() + row * (steps + 1) * states_, factors[as_size(row)], states_);
    }
  }
  if (!gradients.tables.empty()) add_table_gradients(factors, gradients);
}

// Threads share out the combinations, so that each number is the sum over the rows in their order.
template <typename Real>
void TableFilter<Real>::add_table_gradients(std::span<const Real> factors, const Gradients& gradients) const {
  const auto steps = std::ssize(steps_);
  std::vector<std::vector<Real>> of_open;  // of the sums over all that is emitted
  for (const auto& open : open_) of_open.emplace_back(open.size(), Real{0});
  const auto each = std::max<std::int64_t>(1, batch_.size * steps * square_);
  parallel_for(static_cast<std::int64_t>(combinations_), kWork / each + 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Real> weights(combinations_), move(as_size(square_));
    for (std::int64_t row = 0; row < batch_.size; ++row) {
      for (std::int64_t index = 0; index < steps; ++index) {
        const auto& step = steps_[as_size(index)];
        if (begin >= step.combinations) continue;
        const auto kind = as_size(step.kind);
        const auto y = emission(step, row);
        const auto place = (row * (steps + 1) + index) * states_;
        combination_weights(step, batch_.beliefs + row * batch_.variables * batch_.width, batch_.width, weights);
        outer(move.data(), filtered_.data() + place, messages_.data() + place + states_, factors[as_size(row)],
              states_);
        Real* const rows =
            y == kUnset ? of_open[kind].data() : gradients.tables[kind] + y * step.combinations * square_;
        scatter(rows, move.data(), weights.data(), begin, std::min(end, step.combinations), square_);
      }
    }
  });
  std::vector<bool> added(open_.size());
  for (const auto& step : steps_) {
    const auto kind = as_size(step.kind);
    if (added[kind]) continue;
    added[kind] = true;
    const auto size = std::ssize(of_open[kind]);
    for (std::int64_t y = 0; y < step.emitted && size > 0; ++y) {
      add_scaled(gradients.tables[kind] + y * size, of_open[kind].data(), Real{1}, size);
    }
  }
}

void mix_tables(const PlannedStep& step, const float* table, std::int64_t states,
                const TableFilter<float>::Batch& batch, float* mixed) {
  const auto square = states * states;
  const auto grain = std::max<std::int64_t>(1, kWork / (step.emitted * step.combinations * square));
  parallel_for(batch.size, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> weights(as_size(step.combinations));
    for (auto row = begin; row < end; ++row) {
      combination_weights(step, batch.beliefs + row * batch.variables * batch.width, batch.width, weights);
      for (std::int64_t y = 0; y < step.emitted; ++y) {
        mix_one(mixed + (row * step.emitted + y) * square, table + y * step.combinations * square, weights.data(),
                step.combinations, square);
      }
    }
  });
}

template class TableFilter<float>;
template class TableFilter<double>;

}  // namespace anesi

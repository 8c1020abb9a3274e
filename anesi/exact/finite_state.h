// Filtering through a machine with finitely many states: forward over its steps, and backward for the gradient.
//
//   h[t + 1] = M[t] h[t] / n[t]   with n[t] what the product sums to, and   log p = sum of log n[t]
//
// M[t] holds how likely a step moves from each state to each other one and emits what was observed. What the moves are
// is for `Moves` to say: certain ones, of an automaton, for eight examples at a time (automaton_kernel.cc); or tables
// that were learned, of one example (table_filter.h). It has
//   steps()                              how many there are
//   width(step)                          how many states can be reached before a step, or after the last one
//   states(step), total(step)            where the normalised states before a step, and n, are kept
//   forward(step, here, next)            next = M here
//   backward(step, here, later, before)  before = M^T later; adds the outer product of `later` and `here`, which is
//                                        the gradient of M, to the gradients of what M was made of
// `Number` is a float, a double or a vector of them.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "anesi/exact/lanes.h"

namespace anesi {

// 1 / total, and 0 if an output is impossible.
template <typename Real>
[[gnu::always_inline]] inline void invert(const Real& total, Real& inverse) {
  inverse = total > std::numeric_limits<Real>::min() ? 1 / total : 0;
}
[[gnu::always_inline]] inline void invert(const Lanes& total, Lanes& inverse) {
  inverse = total > std::numeric_limits<double>::min() ? 1 / total : Lanes{};
}

// Of a state that is not reached the gradient may be anything; it must not become infinite, or 0 times it is no number.
template <typename Real>
[[gnu::always_inline]] inline void bound(Real& value) {
  constexpr Real kLargest = std::numeric_limits<Real>::max() / (1 << 20);
  value = value < kLargest ? value : kLargest;
}
[[gnu::always_inline]] inline void bound(Lanes& value) {
  constexpr double kLargest = std::numeric_limits<double>::max() / (1 << 20);
  value = value < kLargest ? value : Lanes{} + kLargest;
}

template <typename Number, typename Moves>
[[gnu::always_inline]] inline void filter_forward(Moves& moves) {
  for (std::int64_t step = 0; step < moves.steps(); ++step) {
    Number* const next = moves.states(step + 1);
    moves.forward(step, moves.states(step), next);
    const auto width = moves.width(step + 1);
    Number total{}, inverse;
    for (std::int64_t state = 0; state < width; ++state) total += next[state];
    invert(total, inverse);
    for (std::int64_t state = 0; state < width; ++state) next[state] *= inverse;
    *moves.total(step) = total;
  }
}

// `after` comes in as the derivative by each of the last states, which is the same for all, and goes out as that by the
// first ones. `before` is room for as many.
template <typename Number, typename Moves>
[[gnu::always_inline]] inline void filter_backward(Moves& moves, Number*& after, Number*& before) {
  for (auto step = moves.steps() - 1; step >= 0; --step) {
    Number inverse;
    invert(*moves.total(step), inverse);
    const auto width = moves.width(step + 1);
    for (std::int64_t state = 0; state < width; ++state) {
      after[state] *= inverse;
      bound(after[state]);
    }
    moves.backward(step, moves.states(step), after, before);
    std::swap(after, before);
  }
}

}  // namespace anesi

// log q(y|P) in a machine whose moves are tables of probabilities, with its gradient by beliefs and by the tables.
//
// A step in state h that reads a combination c emits y and moves to h' with probability T[y, c, h, h'], so that q(y|P)
// is linear in each P_i (see models/finite_state.h). With r states, a step that reads C combinations costs C * r^2
// multiply-adds forward, twice that backward, and r^2 for a combination whose probability is zero, so certain beliefs
// are cheap. States are normalised at each step, so long outputs do not underflow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/reading_order.h"
#include "anesi/core/rows.h"
#include "anesi/exact/planned_step.h"

namespace anesi {

// A batch and what gradients need of it. `Real` is float or double.
template <typename Real>
class TableFilter {
 public:
  // Views; whoever made them keeps the numbers.
  struct Machine {
    std::span<const Real> initial;    // [states], a distribution
    std::vector<const Real*> tables;  // one a kind, [emitted, combinations, states, next states]
  };
  struct Batch {
    const Real* beliefs;  // probabilities, [size, variables, width]
    std::int64_t size, variables, width;
    PointRows outputs;  // kUnset if any value will do
  };

  // Throws Error if a shape does not fit or an output has a value that it cannot have.
  TableFilter(const ReadingOrder& reading, Machine machine, const Batch& batch);

  // log q(y|P) of each row. To be called first, once.
  void log_prob(std::span<Real> log_probs);

  // The derivatives of a sum of log_prob(), each row times `factors`. They are added; null if not asked for.
  struct Gradients {
    Real* beliefs = nullptr;
    Real* initial = nullptr;
    std::vector<Real*> tables = {};  // empty if not asked for
  };
  void add_gradients(std::span<const Real> factors, const Gradients& gradients);

 private:
  std::int64_t grain() const;  // rows that make it worth waking another thread
  template <typename Moves>
  void go_to(Moves& moves, std::int64_t row);
  void add_table_gradients(std::span<const Real> factors, const Gradients& gradients) const;

  // What a step of a row must emit, and the table of that.
  std::int64_t emission(const PlannedStep& step, std::int64_t row) const;
  const Real* table(const PlannedStep& step, std::int64_t row) const;

  std::vector<PlannedStep> steps_;
  Machine machine_;
  Batch batch_;
  std::int64_t states_, square_;
  std::size_t combinations_ = 1;         // the most that a step reads
  std::vector<std::vector<Real>> open_;  // of each kind, the sum of all that it may emit, if that is asked for
  // Of every row and step: states, the table mixed by the beliefs, and what the next states sum up to; for gradients,
  // the derivatives by the states.
  std::vector<Real> filtered_, moves_, totals_, messages_;
};

// The tables of one step mixed by the beliefs of each row, [size, emitted, states, next states].
void mix_tables(const PlannedStep& step, const float* table, std::int64_t states,
                const TableFilter<float>::Batch& batch, float* mixed);

// Throws Error if beliefs have too few variables or values for what is read.
void check_read(const std::vector<PlannedStep>& steps, std::int64_t variables, std::int64_t width);

}  // namespace anesi

// An automaton with the beliefs and the output of one example: the passes over it that go row by row.
//
// The most probable world, samples and, for rollouts, how likely each combination is that a step may read next. Also
// the filter in logarithms, for the rows in which the fast one (automaton_kernel.h) may have lost something.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/rows.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/backend.h"
#include "anesi/exact/planned_step.h"

namespace anesi {

// The steps of an automaton with everything looked up. Constant.
class AutomatonSteps {
 public:
  explicit AutomatonSteps(std::shared_ptr<const Automaton> automaton);

  const Automaton& automaton() const { return *automaton_; }
  const std::vector<PlannedStep>& steps() const { return steps_; }
  const Automaton::Table& table(std::size_t step) const { return automaton_->table(steps_[step].kind); }
  // How many states can be reached before a step, or after the last one.
  std::int64_t width(std::size_t step) const { return automaton_->widths()[step]; }
  // Where the states before a step stand when those of all steps stand in one row, the last entry past the end.
  const std::vector<std::size_t>& offsets() const { return offsets_; }
  // A combination at least this likely, beside the likeliest value of each variable, is far from underflow.
  double least_log() const { return least_log_; }

  // What is read and emitted.
  const Space& worlds() const { return worlds_; }
  const Space& outputs() const { return outputs_; }

 private:
  std::shared_ptr<const Automaton> automaton_;
  std::vector<PlannedStep> steps_;
  std::vector<std::size_t> offsets_;
  double least_log_;
  Space worlds_, outputs_;
};

// Products of shares that are no smaller than this and weights above least_log() do not underflow.
inline constexpr double kTinyShare = 1e-200;

// A view.
struct AutomatonRow {
  const AutomatonSteps& machine;
  const double* logs;  // log P_i(v), [variables, width]
  std::int64_t width;
  Values output;                   // each as admits() takes it; empty: all are open
  const double* shares = nullptr;  // what find_shares() says; weights(), messages(), weigh() and sample() need it

  // Of each variable, how likely its values are, up to a factor, [variables, width].
  void find_shares(double* shares) const;

  // What a step must emit; kUnset if it emits nothing.
  std::int64_t emission(std::size_t step) const;
  // How likely each combination of values is that a step reads, up to a factor; and the logarithms of that, exactly.
  void weights(std::size_t step, std::vector<double>& weights) const;
  void log_weights(std::size_t step, std::vector<double>& weights) const;
  // Whether some combination of values is so unlikely that it might underflow.
  bool has_tiny_weights() const;

  // How likely the outputs of all steps from each on are, given the state before it, up to a factor a step, or the
  // logarithms of that: [offsets().back()].
  struct Messages {
    std::vector<double> values;
    bool logarithms = false;
  };
  // False if the output is impossible.
  bool messages(Messages& messages) const;
  // How likely each combination of a step is in a state, given the outputs from there on, up to a factor.
  void weigh(std::size_t step, std::int64_t state, const Messages& messages, std::vector<double>& weights) const;

  // log p(y|P). Adds p(w_i = v|y,P) to each place of `gradient`, [variables, width], unless it is null.
  double log_prob(double* gradient) const;
  // The most probable world that gives the output (Viterbi), and log p(w|P), or -inf.
  double most_probable(MutableValues world) const;
  // By messages back and choices forward. Throws Error if the output is impossible.
  void sample(Random& random, MutableValues world) const;

  [[noreturn]] void throw_impossible() const;

 private:
  bool linear_messages(std::vector<double>& messages) const;
  void log_messages(std::vector<double>& messages) const;
};

// Rows with memory of their own, for whoever chooses variable by variable.
class AutomatonRows {
 public:
  // Outputs may be left out: then every output is open. Throws Error if a shape does not fit.
  AutomatonRows(std::shared_ptr<const Automaton> automaton, LogBeliefRows logs, PointRows outputs = {});

  std::int64_t size() const { return size_; }
  const AutomatonSteps& machine() const { return machine_; }
  AutomatonRow operator[](std::int64_t row) const;

 private:
  AutomatonSteps machine_;
  std::int64_t size_, variables_, width_;
  std::vector<double> logs_, shares_;
  Points outputs_;
};

}  // namespace anesi

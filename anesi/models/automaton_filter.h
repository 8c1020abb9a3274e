// The arithmetic of exact inference in an automaton: filtering forward over its states, and messages back.
//
// Written by hand, because moves are certain: a step over r states that reads C combinations is r * C additions, where
// a product with a table of zeros and ones would be C * r^2. In 64 bits, with states normalised at each step and the
// logarithms of the normalisers added up. A row in which something may have underflowed that matters is done again in
// logarithms, at some twenty times the cost.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "anesi/exact/automaton.h"
#include "anesi/exact/planned_step.h"

namespace anesi {

// log p(outputs|beliefs), double [batch]; -inf where impossible. Beliefs are logarithms, double [batch, worlds,
// domain]; outputs are int64 [batch, outputs], where a variable may be kUnset or other_than(value). Differentiable
// once. Throws Error where a shape or a value does not fit.
torch::Tensor automaton_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs,
                                 const std::shared_ptr<const Automaton>& automaton);

// What the machine makes of each world, int64 [batch, world variables] -> [batch, output variables].
torch::Tensor outputs_of(const Automaton& automaton, const torch::Tensor& worlds);

// An automaton with beliefs and outputs at hand, and what all passes over it need. Rows are examples.
class AutomatonPass {
 public:
  // Outputs may be undefined: then every output is open. Throws Error as above.
  AutomatonPass(std::shared_ptr<const Automaton> automaton, const torch::Tensor& logs, const torch::Tensor& outputs);

  std::int64_t batch() const { return batch_; }
  std::int64_t variables() const { return variables_; }
  const std::vector<PlannedStep>& steps() const { return steps_; }
  const Automaton& automaton() const { return *automaton_; }
  const Automaton::Table& table(std::size_t step) const { return automaton_->table(steps_[step].kind); }
  // Where the states before a step stand when those of all steps stand in one row, the last entry past the end.
  const std::vector<std::size_t>& offsets() const { return offsets_; }

  std::int64_t width() const { return width_; }  // of a belief: the largest domain
  // Probabilities and their logarithms, [variables, width].
  const double* beliefs_of(std::int64_t row) const { return of_row(beliefs_, row); }
  const double* logs_of(std::int64_t row) const { return of_row(logs_, row); }
  // The probability of each combination of values that a step reads, and its logarithm.
  void weights(std::int64_t row, std::size_t step, std::vector<double>& weights) const;
  void log_weights(std::int64_t row, std::size_t step, std::vector<double>& weights) const;
  // What a step must emit, as admits() takes it; kUnset where it emits nothing.
  std::int64_t emission(std::int64_t row, std::size_t step) const;
  // Whether some combination of values is so unlikely that it might underflow.
  bool has_tiny_weights(std::int64_t row) const;

  // How likely the outputs of all steps from each on are, given the state before it, up to a factor a step, or the
  // logarithms of that: [offsets().back()].
  struct Messages {
    std::vector<double> values;
    bool logarithms = false;
  };
  // False where the row's outputs are impossible.
  bool messages(std::int64_t row, Messages& messages, std::vector<double>& weights) const;
  // How likely each combination of a step is in a state, given the outputs from there on, up to a factor.
  void weigh(std::int64_t row, std::size_t step, std::int64_t state, const Messages& messages,
             std::vector<double>& weights) const;
  // Throws Error that names the row's outputs.
  [[noreturn]] void throw_impossible(std::int64_t row) const;

 private:
  const double* of_row(const torch::Tensor& values, std::int64_t row) const {
    return values.const_data_ptr<double>() + row * variables_ * width_;
  }
  bool linear_messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const;
  void log_messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const;

  std::shared_ptr<const Automaton> automaton_;
  std::vector<PlannedStep> steps_;
  std::vector<std::size_t> offsets_;
  std::int64_t batch_, variables_, width_;
  std::size_t most_read_ = 0;  // variables by a step
  torch::Tensor logs_, beliefs_, outputs_;
};

}  // namespace anesi

// The arithmetic of exact inference in an automaton: filtering forward over its states, and messages back.
//
// Written by hand, because moves are certain: a step over r states that reads C combinations is r * C additions, where
// a product with a table of zeros and ones would be C * r^2. In 64 bits, with states normalised at each step and the
// logarithms of the normalisers added up, so that neither length nor confident beliefs underflow.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "anesi/exact/automaton.h"
#include "anesi/models/planned_step.h"

namespace anesi {

// log p(outputs|beliefs), double [batch]; outputs are int64 [batch, outputs], kUnset where a value is summed over; -inf
// where impossible. Differentiable once in the beliefs, [batch, worlds, domain]. Throws Error where a shape or a value
// does not fit.
torch::Tensor automaton_log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                 const std::shared_ptr<const Automaton>& automaton);

// An automaton with beliefs and outputs at hand, and what all passes over it need. Rows are examples.
class AutomatonPass {
 public:
  // Outputs may be undefined: then every output is open. Throws Error as above.
  AutomatonPass(std::shared_ptr<const Automaton> automaton, const torch::Tensor& beliefs, const torch::Tensor& outputs);

  std::int64_t batch() const { return batch_; }
  std::int64_t variables() const { return variables_; }
  const std::vector<PlannedStep>& steps() const { return steps_; }
  const Automaton& automaton() const { return *automaton_; }
  const Automaton::Table& table(std::size_t step) const { return automaton_->table(steps_[step].kind); }
  // Where the states before a step stand when those of all steps stand in one row, the last entry past the end.
  const std::vector<std::size_t>& offsets() const { return offsets_; }

  std::int64_t width() const { return width_; }  // of a belief: the largest domain
  // [variables, width]
  const double* beliefs_of(std::int64_t row) const {
    return beliefs_.const_data_ptr<double>() + row * variables_ * width_;
  }
  double belief(std::int64_t row, std::int64_t variable, std::int64_t value) const {
    return beliefs_of(row)[variable * width_ + value];
  }
  // The probability of each combination of values that a step reads.
  void weights(std::int64_t row, std::size_t step, std::vector<double>& weights) const;
  // What a step must emit; kUnset where that is open, or where it emits nothing.
  std::int64_t emission(std::int64_t row, std::size_t step) const;

  // How likely the outputs of all steps from each on are, given the state before it, up to a factor a step:
  // [offsets().back()]. False where the row's outputs are impossible.
  bool messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const;
  // Throws Error that names the row's outputs.
  [[noreturn]] void throw_impossible(std::int64_t row) const;

 private:
  std::shared_ptr<const Automaton> automaton_;
  std::vector<PlannedStep> steps_;
  std::vector<std::size_t> offsets_;
  std::int64_t batch_, variables_, width_;
  torch::Tensor beliefs_, outputs_;
};

}  // namespace anesi

// What labels say.
//
// Most labels say "the output is y". Some say less: an invalid sudoku is labelled "not all pairs differ", which is "the
// output is not y". Others tell the world itself, all of it (a path, where the output is "it is one") or some of its
// variables.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <utility>

namespace anesi {

struct Observations {
  Observations() = default;
  Observations(torch::Tensor observed, torch::Tensor holding = {})  // NOLINT(google-explicit-constructor)
      : outputs(std::move(observed)), holds(std::move(holding)) {}

  torch::Tensor outputs;  // int64 [batch, output variables]; undefined where only worlds were observed
  torch::Tensor
      holds;  // bool [batch]: true where the output is that, false where it is anything else; undefined: all true
  torch::Tensor worlds;  // int64 [batch, world variables], kUnset where a variable is not known; undefined: none is

  std::int64_t size() const { return outputs.defined() ? outputs.size(0) : worlds.defined() ? worlds.size(0) : 0; }
  // Those of some rows, int64 [rows].
  Observations rows(const torch::Tensor& rows) const;
  // The rows whose labels say what the output is, not only what it is not, int64; none where there are no outputs.
  torch::Tensor rows_that_hold() const;

  // log p(observed outputs), [batch], from log p(output|P): where the output does not hold, log(1 - p). Differentiable.
  torch::Tensor log_prob(const torch::Tensor& output_log_prob) const;
  // Whether predicted outputs, int64 [batch, output variables], agree with what was observed of them, bool [batch].
  torch::Tensor agree(const torch::Tensor& predicted) const;
};

// Labels of examples that satisfy a constraint (formula/constraint.h) and tell worlds, int64 [examples, worlds], kUnset
// where they are not known.
Observations constrained_labels(torch::Tensor worlds);

// Beliefs, [batch, variables, domain], with the variables that are known made certain, int64 [batch, variables], kUnset
// where not. Gradients flow to the others alone.
torch::Tensor clamped(const torch::Tensor& beliefs, const torch::Tensor& known);

// log p(w_S|P) of the variables S that are known, [batch]; nothing is known of the others, so they do not count.
torch::Tensor known_log_prob(const torch::Tensor& beliefs, const torch::Tensor& known);

}  // namespace anesi

// Exact answers: the quantities that q approximates.
//
//   p(y|P) = sum over the worlds w with c(w) = y of p(w|P)      and      p(w|y,P) = p(w|P) [c(w) = y] / p(y|P)
//
// #P-hard in general, but at hand for small problems (exact/enumerate.h), problems with a finite memory
// (exact/automaton_inference.h), outputs of a few variables each (exact/table_inference.h) and formulas that compile
// (exact/circuit_inference.h). They say how good an approximation is, and they are a baseline: the exact loss.
//
// Beliefs come as logarithms (LogBeliefs), so that what softmax would round to 0 still counts, or as probabilities,
// [batch, worlds, domain]. In all methods outputs are int64 [batch, outputs]. A variable of an output may be kUnset
// (any value) or other_than(value).
#pragma once

#include <torch/torch.h>

#include <functional>
#include <utility>

#include "anesi/core/space.h"
#include "anesi/exact/backend.h"

namespace anesi {

struct MostProbable {
  torch::Tensor worlds;    // int64 [batch, variables]
  torch::Tensor log_prob;  // double [batch], log p(w|P); -inf where no world of positive probability gives the output
};

// Points of a space, most probable first.
struct Ranked {
  torch::Tensor values;    // int64 [batch, found, variables]
  torch::Tensor log_prob;  // [batch, found]; -inf marks a place that no point fills
};

// Log-probabilities of each variable's values, double [batch, worlds, domain] on the CPU; -inf where a value is
// impossible. Places past a variable's domain do not count.
struct LogBeliefs {
  explicit LogBeliefs(torch::Tensor values) : logs(std::move(values)) {}
  // From probabilities of any floating type, without gradients.
  static LogBeliefs of(const torch::Tensor& beliefs);
  // The same with gradients, which are 0 where a probability is; see through_logs() for those that are not.
  static LogBeliefs differentiable(const torch::Tensor& beliefs);
  // With the variables that are known made certain, int64 [batch, variables], kUnset where not. Gradients flow to the
  // others alone.
  LogBeliefs clamped(const torch::Tensor& known) const;
  // log p(w_S|P) of the variables S that are known, double [batch]. Differentiable.
  torch::Tensor known_log_prob(const torch::Tensor& known) const;
  LogBeliefs rows(const torch::Tensor& rows) const { return LogBeliefs(logs.index_select(0, rows)); }

  std::int64_t size() const { return logs.size(0); }
  torch::Tensor logs;
};

// What `ask` makes of beliefs that come as probabilities, [batch, worlds, domain], differentiable in them also where
// they are 0. `ask` is told logarithms and gives a logarithm of a probability that is linear in each belief, [batch];
// it may be called twice.
torch::Tensor through_logs(const torch::Tensor& beliefs, const Space& worlds,
                           const std::function<torch::Tensor(const LogBeliefs&)>& ask);

// Constant; several threads may ask at once.
class ExactInference {
 public:
  explicit ExactInference(Space worlds) : worlds_(std::move(worlds)) {}
  virtual ~ExactInference() = default;

  const Space& worlds() const { return worlds_; }

  // log p(y|P), double [batch]; -inf where it is impossible. Differentiable in what was given. A second derivative is
  // right or throws UsageError.
  torch::Tensor log_prob(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;
  // log of how likely any other output is, which log(1 - p(y|P)) would round to nothing where y is all but certain.
  torch::Tensor log_prob_of_others(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;

  // argmax over worlds of p(w|y,P).
  MostProbable most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;
  // The most probable worlds, up to `top` of each row, with log p(w|P).
  Ranked most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const;

  // The same with log p(w|y,P).
  Ranked explain(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const;
  // The most probable outputs, up to `top` of each row, with log p(y|P). Only where all worlds are listed they can be
  // told without search; elsewhere it throws UsageError.
  virtual bool ranks_outputs() const { return false; }
  // Whether some output is shorter than its space (kNone).
  virtual bool has_outputs_that_end() const { return false; }
  virtual Ranked most_probable_outputs(const LogBeliefs& beliefs, std::int64_t top) const;

  // A world from p(w|y,P) for each row, int64 [batch, worlds]. Throws Error where an output is impossible.
  torch::Tensor sample(const LogBeliefs& beliefs, const torch::Tensor& outputs, at::Generator generator) const;
  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs, at::Generator generator) const;

  // p(w_i = v | y, P), double [batch, worlds, domain]; 0 where an output is impossible. It is the derivative of
  // log p(y|P) by log P_i(v), because p(y|P) is linear in each P_i.
  torch::Tensor marginals(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  torch::Tensor marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

  // The entropy of p(w|y,P) in nats, double [batch]. Differentiable in the beliefs. Throws UsageError where it is not
  // known, which it is to circuits alone.
  torch::Tensor entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

 protected:
  // By the first variable in which an output differs: as many questions as there are variables.
  virtual torch::Tensor find_log_prob_of_others(const torch::Tensor& logs, const torch::Tensor& outputs) const;

 private:
  // What each kind of exact inference brings. Shapes are checked, and there is at least one row.
  virtual torch::Tensor find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const = 0;
  virtual MostProbable find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const = 0;
  virtual torch::Tensor draw(const torch::Tensor& logs, const torch::Tensor& outputs,
                             at::Generator generator) const = 0;
  // By asking for the most probable world of what is left, again and again.
  virtual Ranked rank_worlds(const torch::Tensor& logs, const torch::Tensor& outputs, std::int64_t top) const;
  virtual torch::Tensor find_entropy(const torch::Tensor& logs, const torch::Tensor& outputs) const;

  Space worlds_;
};

// For autograd functions that compute their gradient by hand: the gradient, of which a further derivative by inputs or
// upstream is an error (UsageError) rather than silently zero.
torch::Tensor differentiable_no_further(const torch::Tensor& gradient, const torch::Tensor& inputs,
                                        const torch::Tensor& upstream);

}  // namespace anesi

// Exact answers about tensors: any back end of exact/, differentiable.
//
// Exact answers say how good an approximation is, and they are a baseline: the exact loss.
//
// Beliefs come as logarithms (LogBeliefs) or as probabilities, [batch, worlds, domain]. In all methods outputs are
// int64 [batch, outputs]. A variable of an output may be kUnset (any value) or other_than(value).
#pragma once

#include <torch/torch.h>

#include <memory>
#include <utility>

#include "anesi/exact/backend.h"
#include "anesi/exact/labels.h"
#include "anesi/tensors/log_beliefs.h"
#include "anesi/tensors/observations.h"

namespace anesi {

struct MostProbable {
  torch::Tensor worlds;    // int64 [batch, variables]
  torch::Tensor log_prob;  // double [batch], log p(w|P); -inf where no world of positive probability gives the output
};

// Points of a space, most probable first.
struct Ranked {
  torch::Tensor values;    // int64 [batch, found, variables]; kUnset where no point fills a place
  torch::Tensor log_prob;  // [batch, found]; -inf marks such a place
};

// Constant; several threads may ask at once. Where something is differentiable its second derivative is right, and a
// third one is an error.
class ExactInference {
 public:
  explicit ExactInference(std::shared_ptr<const Backend> backend) : backend_(std::move(backend)) {}

  const Backend& backend() const { return *backend_; }
  const Space& worlds() const { return backend_->worlds(); }
  bool ranks_outputs() const { return backend_->lists_worlds(); }
  bool has_outputs_that_end() const { return backend_->has_outputs_that_end(); }

  // log p(y|P), double [batch]; -inf where it is impossible. Differentiable in what was given.
  torch::Tensor log_prob(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;
  // log of how likely any other output is.
  torch::Tensor log_prob_of_others(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  // How likely labels of every kind are (exact/labels.h), double [batch]. Differentiable.
  torch::Tensor label_log_prob(const LogBeliefs& beliefs, const Observations& labels,
                               WholeWorlds whole = WholeWorlds::kGivenOutput) const;

  // argmax over worlds of p(w|y,P).
  MostProbable most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;
  // The most probable worlds, up to `top` of each row, with log p(w|P); and with log p(w|y,P).
  Ranked most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const;
  Ranked explain(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const;
  // The most probable outputs, up to `top` of each row, with log p(y|P). Throws UsageError unless ranks_outputs().
  Ranked most_probable_outputs(const LogBeliefs& beliefs, std::int64_t top) const;

  // A world from p(w|y,P) for each row, int64 [batch, worlds]. Throws Error where an output is impossible.
  torch::Tensor sample(const LogBeliefs& beliefs, const torch::Tensor& outputs, at::Generator generator) const;
  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs, at::Generator generator) const;

  // p(w_i = v | y, P), double [batch, worlds, domain]; 0 where an output is impossible.
  torch::Tensor marginals(const LogBeliefs& beliefs, const torch::Tensor& outputs) const;
  torch::Tensor marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

  // The entropy of p(w|y,P) in nats, double [batch]. Differentiable once.
  torch::Tensor entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const;

 private:
  std::shared_ptr<const Backend> backend_;
};

// For autograd functions that compute their gradient by hand: the gradient, of which a further derivative by inputs or
// upstream is an error (UsageError) rather than silently zero.
torch::Tensor differentiable_no_further(const torch::Tensor& gradient, const torch::Tensor& inputs,
                                        const torch::Tensor& upstream);

}  // namespace anesi

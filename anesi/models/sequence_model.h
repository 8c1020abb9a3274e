// A distribution over the points of a space, given a belief: what q(y|P) is.
//
// A model chooses the variables of its space one after another, in its own order(). It gives the log-probability of a
// complete point in one pass (training), and a Rollout that goes variable by variable (sampling and beam search, which
// are written once for all architectures in sample.h and beam.h). Pruning happens there too, never in an architecture.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

// A batch of partly chosen points, one a row. Starts with one row for each belief.
class Rollout {
 public:
  virtual ~Rollout() = default;

  // Log-probabilities of the next variable's values given those chosen so far, [rows, domain of that variable].
  virtual torch::Tensor next_log_probs() = 0;
  // Chooses the next variable's value in every row, int64 [rows].
  virtual void advance(const torch::Tensor& values) = 0;
  // Keeps the given rows, in that order; a row may be named more than once. int64 [new rows].
  virtual void select(const torch::Tensor& rows) = 0;
};

class SequenceModel : public torch::nn::Module {
 public:
  explicit SequenceModel(Space space, std::vector<std::int64_t> order)
      : space_(std::move(space)), order_(std::move(order)) {}

  const Space& space() const { return space_; }
  // The variables in the order in which they are chosen.
  const std::vector<std::int64_t>& order() const { return order_; }

  // log q(values|beliefs), [batch]. Differentiable in the beliefs and the weights.
  virtual torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& values) = 0;

  // One row for each belief. The rollout refers to this model, which must outlive it; gradients need not flow through
  // it.
  virtual std::unique_ptr<Rollout> begin(const torch::Tensor& beliefs) = 0;

  // Whether q(y|P) is linear in each P_i, as p(y|P) is. Such a model is right on every belief if it is right on worlds.
  virtual bool multilinear() const { return false; }

 private:
  Space space_;
  std::vector<std::int64_t> order_;
};

// While it lives, no parameter of the module asks for a gradient: a backward pass through the module reaches its inputs
// without computing weight gradients that nobody wants.
class FrozenParameters {
 public:
  explicit FrozenParameters(torch::nn::Module& module) {
    for (auto& parameter : module.parameters()) {
      if (!parameter.requires_grad()) continue;
      parameter.requires_grad_(false);
      frozen_.push_back(parameter);
    }
  }
  ~FrozenParameters() {
    for (auto& parameter : frozen_) parameter.requires_grad_(true);
  }
  FrozenParameters(const FrozenParameters&) = delete;
  FrozenParameters& operator=(const FrozenParameters&) = delete;

 private:
  std::vector<torch::Tensor> frozen_;
};

}  // namespace anesi

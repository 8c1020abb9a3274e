// The exact loss -log p(observed|P), of a problem that allows exact inference: the baseline that A-NeSI approximates.
#pragma once

#include "anesi/core/error.h"
#include "anesi/losses/loss.h"
#include "anesi/losses/observed_log_prob.h"

namespace anesi {

class ExactLoss final : public Loss {
 public:
  // p(y|P) and p(w|y,P) as models, see exact/exact_model.h.
  explicit ExactLoss(InferenceModel exact) : exact_(std::move(exact)) {}

  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    if (observations.given.defined()) throw UsageError("the exact loss cannot be told anything besides the world");
    return -observed_log_prob(exact_, beliefs, observations).mean();
  }

 private:
  InferenceModel exact_;
};

}  // namespace anesi

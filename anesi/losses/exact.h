// The exact loss -log p(y|P), of a problem that allows exact inference: the baseline that A-NeSI approximates.
#pragma once

#include <limits>
#include <memory>

#include "anesi/losses/query_loss.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

class ExactLoss final : public QueryLoss {
 public:
  // p(y|P) as a model, see exact/exact_model.h.
  explicit ExactLoss(std::shared_ptr<SequenceModel> exact) : exact_(std::move(exact)) {}

  double learn(const torch::Tensor&) override { return std::numeric_limits<double>::quiet_NaN(); }
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    TORCH_CHECK(!observations.queries.defined(), "loss=exact answers only what the problem asks");
    return -observations.log_prob(exact_->log_prob(beliefs, observations.outputs)).mean();
  }
  NamedTensors state() const override { return {}; }
  void load_state(const NamedTensors&) override {}

 private:
  std::shared_ptr<SequenceModel> exact_;
};

}  // namespace anesi

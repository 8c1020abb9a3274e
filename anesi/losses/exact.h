// The exact loss -log p(observed|P), of a problem that allows exact inference: the baseline that A-NeSI approximates.
#pragma once

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/losses/loss.h"
#include "anesi/losses/observed_log_prob.h"

namespace anesi {

class ExactLoss final : public Loss {
 public:
  // p(y|P) and p(w|y,P) as models, see exact/exact_model.h.
  explicit ExactLoss(InferenceModel exact) : exact_(std::move(exact)) {}

  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    const auto log_probs = observed_log_prob(exact_, beliefs, observations);
    if (const auto impossible = log_probs.isneginf(); impossible.any().item<bool>()) {
      throw Error(
          fmt::format("training: the label of example {} of a batch is impossible: no world that perception "
                      "gives any probability agrees with it",
                      impossible.nonzero()[0][0].item<std::int64_t>()));
    }
    return -log_probs.mean();
  }

 private:
  InferenceModel exact_;
};

}  // namespace anesi

// Semantic loss (Xu et al. 2018) and its entropy form (Ahmed et al. 2022): what others add to a network's own loss.
//
//   -log p(w|P)  -  weight * log p(y|P)  +  entropy * H(p(w|y,P))
//
// w is the labelled world, left out where there is none, and y what is known of its output (that the constraint holds).
// Labels are learned as if variables were independent; the rest only pushes beliefs towards the constraint. Compare
// with the exact loss, -log p(w|y,P), which knows that labels satisfy it.
#pragma once

#include <memory>

#include "anesi/core/error.h"
#include "anesi/losses/loss.h"
#include "anesi/losses/observed_log_prob.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/exact_inference.h"
#include "anesi/tensors/observations.h"

namespace anesi {

struct SemanticOptions {
  double weight = 0.05, entropy = 0;

  void describe(OptionTable& table) {
    table.add("weight", weight, {0, 1000}, "of -log p(y|P) beside the label's own loss; 0: the network alone");
    table.add("entropy", entropy, {0, 1000}, "of the entropy of the worlds that give the output");
  }
};

class SemanticLoss final : public Loss {
 public:
  SemanticLoss(std::shared_ptr<const ExactInference> inference, SemanticOptions options)
      : inference_(std::move(inference)), options_(options) {}

  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    auto loss = torch::zeros({}, beliefs.options());
    if (observations.worlds.defined()) {
      loss = loss - finite_logs(beliefs).known_log_prob(observations.worlds).mean();
    }
    if (!observations.outputs.defined()) return loss;
    if (options_.weight > 0) {
      const Observations of_outputs(observations.outputs, observations.holds);
      const auto likely = through_logs(beliefs, inference_->worlds(), [&](const LogBeliefs& logs) {
        return inference_->label_log_prob(logs, of_outputs);
      });
      loss = loss - options_.weight * likely.mean().to(loss.scalar_type());
    }
    if (options_.entropy > 0) {
      const auto entropy = inference_->entropy(beliefs, observations.outputs);
      loss = loss + options_.entropy * entropy.mean().to(loss.scalar_type());
    }
    return loss;
  }

 private:
  std::shared_ptr<const ExactInference> inference_;
  SemanticOptions options_;
};

}  // namespace anesi

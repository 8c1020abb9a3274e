// The expected distance of outputs from labels, its gradient by an estimator that changes one variable at a time
// (anesi/estimate/): what black-box methods other than A-NeSI do, each by its name.
//
// Calls c in every step, about as often for each example as worlds have values of variables.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/estimate/estimator.h"
#include "anesi/losses/loss.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct EstimatedOptions {
  std::int64_t samples = 1;
  double temperature = 1;

  void describe(OptionTable& table) {
    table.add("samples", samples, {1, 1000000},
              "worlds drawn for each example, each asked about with one variable changed");
    table.add("temperature", temperature, {1e-3, 100}, "of straight-through's softmax");
  }
};

class EstimatedLoss final : public Loss {
 public:
  // By the estimator of that name: "indecater" or "gumbel". The generator is its owner's, and so is its state.
  EstimatedLoss(std::shared_ptr<const Problem> problem, const std::string& estimator, const EstimatedOptions& options,
                const at::Generator& generator);

  // The mean distance of the drawn worlds' outputs (score.h); its gradient is the estimate. Throws UsageError for
  // labels that only say what an output is not, or that tell worlds.
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override;

 private:
  // Of worlds that stand in the order of the examples, as many of each, double [worlds].
  torch::Tensor distances(const torch::Tensor& worlds) const;

  std::shared_ptr<const Problem> problem_;
  std::string name_;
  std::unique_ptr<Estimator> estimator_;
  Observations wanted_;  // of the batch whose loss is asked for
};

// Throws UsageError, which begins with the loss's name, where labels do not say which outputs are wanted.
void require_outputs_as_goals(const Observations& observations, const std::string& loss);

}  // namespace anesi

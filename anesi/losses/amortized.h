// The A-NeSI loss: -log q(y|P), with a q that is learned from samples of c alone (sections 3.1 and 3.2 of the paper).
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/losses/query_loss.h"
#include "anesi/models/sequence_model.h"
#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct AmortizedOptions {
  Schedule schedule;
  std::int64_t samples = 600;
  bool frozen = false;
  std::string precision = "f32";  // or bf16; said by train.precision

  void describe(OptionTable& table) {
    schedule.describe(table);
    table.add("samples", samples, {1, 1000000}, "beliefs sampled for an update of q");
    table.add("frozen", frozen, "train q before perception only, not beside it");
  }
};

class AmortizedLoss final : public QueryLoss {
 public:
  // `steps` is how often q will be updated in all, for its schedule. The problem outlives it.
  AmortizedLoss(const Problem& problem, std::shared_ptr<SequenceModel> model, std::unique_ptr<BeliefPrior> prior,
                AmortizedOptions options, std::int64_t steps, at::Generator generator);

  // Algorithm 1: fits the prior, samples beliefs from it and worlds from them, applies c, and takes one step of
  // cross-entropy on q. Returns the loss.
  double update();
  // The last part of it: one step on the given beliefs and outputs.
  double update_on(const torch::Tensor& beliefs, const torch::Tensor& outputs);

  double learn(const torch::Tensor& beliefs) override;
  torch::Tensor loss(const torch::Tensor& beliefs, const torch::Tensor& outputs) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  SequenceModel& model() { return *model_; }
  BeliefPrior& prior() { return *prior_; }

 private:
  const Problem& problem_;
  std::shared_ptr<SequenceModel> model_;
  std::unique_ptr<BeliefPrior> prior_;
  AmortizedOptions options_;
  Adam optimizer_;
  std::int64_t step_ = 0, steps_;
  at::Generator generator_;
};

}  // namespace anesi

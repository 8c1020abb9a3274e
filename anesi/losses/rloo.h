// REINFORCE with a leave-one-out baseline: the gradient of an expected distance, without a model of it.
//
// For each example worlds are drawn from its beliefs and c is applied to each. How far their outputs are from the label
// (Problem::distance) is the cost of each; the mean cost of the others is its baseline. Unbiased, and calls c in
// every step: the baseline that needs no q, and a companion of A-NeSI, which is biased where q is.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/losses/query_loss.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct RlooOptions {
  std::int64_t samples = 10;
  double weight = 1;

  void describe(OptionTable& table) {
    table.add("samples", samples, {2, 1000000}, "worlds drawn for each example");
    table.add("weight", weight, {0, 1000000}, "of the expected distance where it is added to the loss through q");
  }
};

class RlooLoss final : public QueryLoss {
 public:
  // The problem outlives it.
  RlooLoss(const Problem& problem, RlooOptions options, at::Generator generator)
      : problem_(problem), options_(options), generator_(std::move(generator)) {}

  double learn(const torch::Tensor& beliefs) override;
  // The mean distance of the drawn worlds' outputs; its gradient is the estimate. Throws UsageError for labels that
  // only say what an output is not.
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override;
  NamedTensors state() const override { return {}; }  // the generator is its owner's
  void load_state(const NamedTensors&) override {}

 private:
  const Problem& problem_;
  RlooOptions options_;
  at::Generator generator_;
};

// One loss and another, the second weighted.
class SumOfLosses final : public QueryLoss {
 public:
  SumOfLosses(std::unique_ptr<QueryLoss> first, std::unique_ptr<QueryLoss> second, double weight)
      : first_(std::move(first)), second_(std::move(second)), weight_(weight) {}

  double learn(const torch::Tensor& beliefs) override;
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    return first_->loss(beliefs, observations) + weight_ * second_->loss(beliefs, observations);
  }
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  std::unique_ptr<QueryLoss> first_, second_;
  double weight_;
};

}  // namespace anesi

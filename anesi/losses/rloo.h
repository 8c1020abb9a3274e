// REINFORCE with a leave-one-out baseline: the gradient of an expected distance, without a model of it.
//
// For each example worlds are drawn from its beliefs and c is applied to each. How far their outputs are from the label
// (score.h) is the cost of each; the mean cost of the others is its baseline. Unbiased, and calls c in
// every step: the baseline that needs no q, and a companion of A-NeSI, which is biased where q is.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/losses/loss.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct RlooOptions {
  std::int64_t samples = 10;
  double weight = 1;
  bool in_turn = false;

  void describe(OptionTable& table) {
    table.add("samples", samples, {2, 1000000}, "worlds drawn for each example");
    table.add("weight", weight, {0, 1000000}, "of the expected distance where it is added to the loss through q");
    table.add(
        "in_turn", in_turn,
        "where it is added to the loss through q: a step by each in turn, with an optimiser of its own, in place of "
        "one by their sum");
  }
};

class RlooLoss final : public Loss {
 public:
  // The generator is its owner's, and so is its state.
  RlooLoss(std::shared_ptr<const Problem> problem, RlooOptions options, at::Generator generator)
      : problem_(std::move(problem)), options_(options), generator_(std::move(generator)) {}

  // The mean distance of the drawn worlds' outputs; its gradient is the estimate. Throws UsageError for labels that
  // only say what an output is not, or that tell worlds.
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override;

 private:
  std::shared_ptr<const Problem> problem_;
  RlooOptions options_;
  at::Generator generator_;
};

// One loss and another, the second weighted. Perception steps along their sum or, where they are taken in turn, by each
// of them; there a weight has no effect, since Adam's steps do not depend on the scale of a loss.
class TwoLosses final : public Loss {
 public:
  TwoLosses(std::unique_ptr<Loss> first, std::unique_ptr<Loss> second, double weight, bool in_turn = false)
      : first_(std::move(first)), second_(std::move(second)), weight_(weight), in_turn_(in_turn) {}

  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override {
    return first_->loss(beliefs, observations) + weight_ * second_->loss(beliefs, observations);
  }
  std::vector<Loss*> in_turn() override {
    return in_turn_ ? std::vector<Loss*>{first_.get(), second_.get()} : std::vector<Loss*>{this};
  }
  // Both learn; the loss of the first that did.
  std::optional<double> learn(const torch::Tensor& beliefs, const Rate& rate) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  std::unique_ptr<Loss> first_, second_;
  double weight_;
  bool in_turn_;
};

}  // namespace anesi

// Algorithm 2 of the paper: perception learns through q, with q beside it or as it is.
//
// Where labels are to be explained afterwards (refine_phase.h), that shows whether perception got anywhere: where
// explanations are too unlikely, it begins anew from other weights, and after enough starts the best of them is taken.
#pragma once

#include <optional>

#include "anesi/train/learner.h"
#include "anesi/train/options.h"
#include "anesi/train/phase.h"
#include "anesi/train/q_schedule.h"
#include "anesi/train/refine_phase.h"

namespace anesi {

class PerceptionPhase final : public Phase {
 public:
  struct Plan {
    TrainOptions train = {};
    std::optional<QSchedule> q = {};           // empty: q stays as it is
    std::int64_t q_every = 1;                  // steps of perception for one update of q
    std::optional<RefineOptions> refine = {};  // how labels are explained afterwards; empty: they are not
    std::int64_t round = 0;                    // where it is not the first, perception begins with the refined network
  };
  PerceptionPhase(Learner& learner, Plan plan);

  std::string name() const override { return name_of_round("perception", plan_.round); }
  void begin() override;
  std::int64_t steps() const override { return plan_.train.epochs * steps_per_epoch(); }
  std::int64_t epochs() const override { return plan_.train.epochs; }
  StepLosses step(std::int64_t index) override;
  bool reports_after(std::int64_t index) const override;
  std::optional<Evaluation> evaluate() override;
  // Explains the labels, where that is asked for.
  Next finish() override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  std::int64_t steps_per_epoch() const { return (learner_.rows.size(0) + batch_ - 1) / batch_; }

 private:
  // The order of the training examples in an epoch, from the seed, the start and the epoch alone.
  const torch::Tensor& order_of(std::int64_t epoch);

  Learner& learner_;
  Plan plan_;
  std::int64_t batch_;
  torch::Tensor order_;
  std::int64_t order_key_ = -1;  // that order_ is of
  bool took_refined_ = false;    // in a later round: the refined network is perception now
  struct Start {
    ExplainedLabels labels;
    NamedTensors weights;  // of perception
  };
  std::optional<Start> best_;  // of those that were given up
  struct Kept {
    double accuracy;
    NamedTensors weights;  // of perception
  };
  std::optional<Kept> kept_;  // the best of this start on what is held out, where train.keep asks for it
};

}  // namespace anesi

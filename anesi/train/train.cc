#include "anesi/train/train.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/train/follow_phase.h"
#include "anesi/train/perception_phase.h"
#include "anesi/train/q_phase.h"
#include "anesi/train/starts_phase.h"

namespace anesi {
namespace {

// Labels are looked up by their values: a variable that is not known is kUnset, and any other number below 0 is
// refused.
void check_labels(const Observations& labels) {
  if (!labels.worlds.defined()) return;
  const auto wrong = (labels.worlds < 0).logical_and(labels.worlds != kUnset).nonzero();
  if (wrong.size(0) == 0) return;
  const auto row = wrong[0][0].item<std::int64_t>(), variable = wrong[0][1].item<std::int64_t>();
  throw UsageError(fmt::format("labels: example {} has {} at variable {} of its world; {} says that it is not known",
                               row, labels.worlds[row][variable].item<std::int64_t>(), variable, kUnset));
}

void check(const Learner& learner, const TrainOptions& train, const QOptions& q, const RefineOptions& refine) {
  if (!learner.loss || !learner.model.prediction) {
    throw UsageError("training: the learner has no loss or no q; call learn_through() or set both");
  }
  check_labels(learner.training->labels());
  if (train.augment && !learner.augment) throw UsageError("train.augment: this task cannot augment its inputs");
  const bool q_follows = learner.learns_q && !q.frozen;
  if (refine.epochs == 0) return;
  if (refine.augment && !learner.augment) throw UsageError("refine.augment: this task cannot augment its inputs");
  if (refine.restart_gap > 0 && q_follows) {
    throw UsageError(
        "refine.restart_gap: perception can only start again through a q that has not followed it; set q.frozen=true");
  }
  if (refine.rounds > 1 && q_follows) {
    throw UsageError(
        "refine.rounds: perception can only learn again through a q that stays as it is; set q.frozen=true");
  }
  if (refine.q_steps > 0 && !q_follows) {
    throw UsageError("refine.q_steps: there is no q that learns; set q.frozen=false and loss=amortized");
  }
}

}  // namespace

QSchedule q_schedule(const TrainOptions& train, const QOptions& q, const RefineOptions& refine, bool q_learns,
                     std::int64_t examples, std::int64_t batch) {
  const auto steps = train.epochs * ((examples + batch - 1) / batch);
  return {.schedule = q.schedule,
          .joint_lr = q.joint_lr,
          .alone = q_learns ? q.updates_alone() : 0,
          .beside = q_learns && !q.frozen ? (steps + q.every - 1) / q.every : 0,
          .after = q_learns && refine.epochs > 0 ? refine.q_steps : 0};
}

std::vector<std::unique_ptr<Phase>> usual_phases(Learner& learner, const TrainOptions& train, const QOptions& q,
                                                 const RefineOptions& refine) {
  check(learner, train, q, refine);
  learner.weight_decay = train.weight_decay;
  learner.rows = train.negatives ? torch::arange(learner.training->size(), torch::kInt64)
                                 : learner.training->labels().rows_that_hold();
  if (learner.rows.size(0) == 0) {
    throw Error(
        "there is no training example whose label says what the output is; set train.negatives=true to learn from the "
        "others, or give other data");
  }
  const auto batch = train.batch_size(learner.problem->worlds());
  const bool refines = refine.epochs > 0, q_follows = learner.learns_q && !q.frozen;
  const auto schedule = q_schedule(train, q, refine, learner.learns_q, learner.rows.size(0), batch);
  std::vector<std::unique_ptr<Phase>> phases;
  if (schedule.alone > 0) phases.push_back(std::make_unique<QPhase>(learner, schedule));
  if (train.starts > 1) phases.push_back(std::make_unique<StartsPhase>(learner, train));
  if (train.start == StartFrom::kKinds) {
    phases.push_back(std::make_unique<KindsStartPhase>(learner, train.kinds_start));
  }
  PerceptionPhase::Plan plan{.train = train, .q_every = q.every};
  if (q_follows) plan.q = schedule;
  if (refines) plan.refine = refine;
  const auto first_rate = plan.train.schedule.lr;
  for (std::int64_t round = 0; round < (refines ? refine.rounds : 1); ++round) {
    plan.round = round;
    plan.train.schedule.lr = round == 0 ? first_rate : first_rate / 2;
    phases.push_back(std::make_unique<PerceptionPhase>(learner, plan));
    if (refines) phases.push_back(std::make_unique<RefinePhase>(learner, refine, round));
  }
  if (schedule.after > 0) phases.push_back(std::make_unique<FollowPhase>(learner, schedule, batch));
  return phases;
}

bool train(Learner& learner, const TrainOptions& options, const QOptions& q, const RefineOptions& refine,
           TrainingObserver* observer) {
  if (!q.from.empty()) throw UsageError("q.from: load that q and give it to learn_through()");
  if (options.pieces && !learner.pieces) throw UsageError("train.pieces: set the learner's pieces");
  if (options.validation) throw UsageError("train.validation: set what the learner holds out");
  TrainingObserver nobody;
  return Trainer(learner, usual_phases(learner, options, q, refine)).run(observer != nullptr ? *observer : nobody);
}

}  // namespace anesi

// The usual training: q alone, several starts, perception, refinement, and q following it; each where options ask for
// it.
//
// Options that say what a learner is are not looked at here: train.precision, train.validation and train.pieces, and of
// `q` the architecture, where it comes from and what its loss is told. Whoever makes the learner has honoured them.
#pragma once

#include <memory>
#include <vector>

#include "anesi/train/learner.h"
#include "anesi/train/options.h"
#include "anesi/train/phase.h"
#include "anesi/train/q_schedule.h"
#include "anesi/train/refine_phase.h"
#include "anesi/train/trainer.h"

namespace anesi {

// How many updates of q each of them makes, and at what rate, for so many training examples in batches of that size.
// None where q does not learn from samples of c.
QSchedule q_schedule(const TrainOptions& train, const QOptions& q, const RefineOptions& refine, bool q_learns,
                     std::int64_t examples, std::int64_t batch);

// The phases in their order, for a learner whose loss is set and which outlives them. Sets the learner's weight decay,
// and its rows where labels that only say what an output is not are left out. Throws UsageError where options
// contradict each other or the learner lacks what they need.
std::vector<std::unique_ptr<Phase>> usual_phases(Learner& learner, const TrainOptions& train, const QOptions& q = {},
                                                 const RefineOptions& refine = {});

// Trains from the beginning to the end, with a fresh optimiser. False where the observer stopped it. Throws UsageError
// where options ask for what only a run of a task has: q.from, train.pieces, train.validation.
bool train(Learner& learner, const TrainOptions& options, const QOptions& q = {}, const RefineOptions& refine = {},
           TrainingObserver* observer = nullptr);

}  // namespace anesi

#include "anesi/run/training.h"

#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/exact/found_facts.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/rows.h"
#include "anesi/train/choose_q.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

void check_options(const Configuration& configuration, const Task& task, const Splits& data) {
  if (!configuration.q.from.empty() && !configuration.loss_entry().learns_q) {
    throw UsageError("q.from: loss=" + configuration.loss + " learns through no q");
  }
  if (configuration.train.pieces) {
    if (!task.pieces) {
      throw UsageError("train.pieces: the examples of this task have no pieces that are problems of their own");
    }
    if (configuration.loss_entry().learns_q && !configuration.q.given) {
      throw UsageError("train.pieces: pieces are of a more general problem than the task's; set q.given=true");
    }
  }
  const auto decide = configuration.eval.decide;
  if (configuration.train.keep == Keep::kBest && !data.validation) {
    throw UsageError("train.keep=best: there are no validation data to choose by; set train.validation=true");
  }
  if (decide == Decide::kConstrained && !data.train->labels().worlds.defined()) {
    throw UsageError("eval.decide=constrained: the labels of this task are outputs, not worlds");
  }
  if (!configuration.eval.scored_by()) return;
  if (!data.train->labels().holds.defined()) {
    throw UsageError("eval.decide=" + name_of(decide) +
                     ": the labels of this task say what the output is, not whether it holds");
  }
  const auto& holds = data.held_out().labels().holds;
  if (holds.all().item<bool>() || !holds.any().item<bool>()) {
    throw Error(
        "eval.decide=" + name_of(decide) +
        ": the labels that its threshold is fitted on all say the same; use eval.decide=symbolic or other data");
  }
}

}  // namespace

std::optional<Pieces> shown_pieces(const Configuration& configuration, const Task& task) {
  if (configuration.train.pieces) return task.pieces;
  return configuration.loss_entry().learns_q && configuration.q.given ? task.wholes : std::nullopt;
}

Training::Training(const Configuration& configuration, const Task& task, Splits data, const std::optional<Found>& found,
                   const Say& say)
    : configuration_(configuration),
      task_(task),
      data_(std::move(data)),
      fingerprint_(torch::tensor(fingerprint(data_))),
      found_(found) {
  check_options(configuration, task_, data_);
  if (found_) {
    task_.problem = with_found_facts(task_.problem, found_->facts, found_->reason);
  } else if (configuration.discovers(*task_.problem)) {
    find_out(say);
  }
  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  learner_ = std::make_unique<Learner>(task_.problem, task_.make_perception, data_.train, seed);
  auto& learner = *learner_;
  learner.augment = task_.augment;
  learner.pieces = shown_pieces(configuration, task_);
  learner.held_out = data_.validation ? data_.validation : data_.test;
  learner.held_out_name = data_.validation ? "validation" : "test";
  learner.decide = configuration.eval.decide;

  // Through exact inference there is no q that learns, whatever the loss was to be.
  const auto& entry = found_ && found_->architecture == kExactArchitecture ? losses().find(kExactArchitecture)
                                                                           : configuration.loss_entry();
  learner.model = chosen_model_ ? *std::exchange(chosen_model_, {})
                                : configuration.make_model(*task_.problem, found_ ? found_->architecture : "");
  learner.learns_q = entry.learns_q;
  learner.through_q = entry.through_q;
  learner.prunes = configuration.q.amortized.prunes();
  learner.loss = entry.make({.problem = learner.pieces ? learner.pieces->problem : task_.problem,
                             .model = learner.model,
                             .make_prior = [&](const Space& worlds) { return configuration.make_prior(worlds); },
                             .options = configuration.loss_options(),
                             .generator = learner.generator});
  learner.say = say;
  if (found_ && found_->architecture == kExactArchitecture) {
    learner.watched = {.worlds = configuration.discover.watched, .options = configuration.discover};
  }
  trainer_ = std::make_unique<Trainer>(
      learner, usual_phases(learner, configuration.train, configuration.q, configuration.refine));
}

void Training::find_out(const Say& say) {
  if (task_.pieces && configuration_.train.pieces) {
    throw UsageError("q.architecture=auto: what is asked of pieces is not asked of c; choose an architecture");
  }
  const auto chosen = choose_q(
      task_.problem, configuration_.discover, static_cast<std::uint64_t>(configuration_.seed),
      [&](const Problem& problem, const std::string& name) { return configuration_.make_model(problem, name); }, say);
  if (configuration_.loss_entry().exact && !chosen.is_exact()) {
    throw Error("exact inference: " + (chosen.discovery ? chosen.discovery->reason : chosen.reason));
  }
  task_.problem = chosen.problem;
  chosen_model_ = chosen.model;
  found_ = Found{found_facts_of(*chosen.problem), chosen.architecture, chosen.reason};
}

void Training::take_q() {
  const auto& q = configuration_.q;
  if (q.from.empty()) return;
  load_model_tensors(learner_->model, load_q(q.from, learner_->model.architecture), "q.from=" + q.from);
}

Predictor Training::predictor_with(const std::shared_ptr<Perception>& perception) const {
  const auto& options = configuration_.eval;
  std::optional<Decision> decision;
  if (const auto by = options.scored_by()) {
    decision = Decision{.by = *by, .limits = options.limits};
    decision->fit(*task_.problem, *learner_->model.prediction, *perception, data_.held_out());
  }
  return Predictor({.problem = learner_->problem,  // with the memory as it is now
                    .perception = perception,
                    .model = learner_->model,
                    .options = options,
                    .decision = decision,
                    .prunes = prunes_by(*task_.problem, options, learner_->prunes),
                    .q_learned = learner_->through_q});
}

TrainingDetails Training::details() const {
  return {.task = configuration_.task_name,
          .preset = configuration_.preset,
          .options = configuration_.values(),
          .trained_on = data_.origin,
          .data_fingerprint = values_of(fingerprint_)};
}

}  // namespace anesi

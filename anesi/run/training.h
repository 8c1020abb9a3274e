// A configuration, its task and data, put together for training.
#pragma once

#include <memory>
#include <optional>

#include "anesi/predict/predictor.h"
#include "anesi/predict/saved_model.h"
#include "anesi/run/configuration.h"
#include "anesi/train/learner.h"
#include "anesi/train/trainer.h"

namespace anesi {

// What a run shows perception and q instead of the task's own examples; empty: nothing.
std::optional<Pieces> shown_pieces(const Configuration& configuration, const Task& task);

class Training {
 public:
  // What was found out about c when a run began, so that one that goes on does not ask again.
  struct Found {
    NamedArrays facts;  // exact/found_facts.h
    std::string architecture, reason;
  };

  // The configuration outlives it. Where c is to be asked what it is, that is done here, unless it was `found` before;
  // `say` is told how far it is. Throws UsageError where options contradict each other, the task or its data.
  Training(const Configuration& configuration, const Task& task, Splits data, const std::optional<Found>& found = {},
           const Say& say = {});

  Learner& learner() { return *learner_; }
  Trainer& trainer() { return *trainer_; }
  const Trainer& trainer() const { return *trainer_; }
  const Splits& data() const { return data_; }
  const Task& task() const { return task_; }
  const Configuration& configuration() const { return configuration_; }

  // Empty where nothing had to be found.
  const std::optional<Found>& found() const { return found_; }

  const torch::Tensor& data_fingerprint() const { return fingerprint_; }  // int64

  // Takes the q that q.from names, where it names one: for a training that begins. Throws Error where it is not there
  // or does not fit.
  void take_q();

  // What was trained, as it is to predict: with its pruner, and with a decision fitted on held-out data where it
  // decides by a score.
  Predictor predictor() const { return predictor_with(learner_->current_perception()); }
  // The same with perception as it was before it was refined.
  Predictor unrefined_predictor() const { return predictor_with(learner_->perception); }
  // What its manifest says besides.
  TrainingDetails details() const;

 private:
  void find_out(const Say& say);
  Predictor predictor_with(const std::shared_ptr<Perception>& perception) const;

  const Configuration& configuration_;
  Task task_;
  Splits data_;
  torch::Tensor fingerprint_;
  std::optional<Found> found_;
  std::optional<InferenceModel> chosen_model_;  // made when it was chosen, until the learner has it
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace anesi

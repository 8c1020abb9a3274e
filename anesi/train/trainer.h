// Algorithm 2 of the paper: perception learns through q while q follows perception.
//
// Training is a list of phases: q alone (optional), then perception, with q beside it or frozen, then perception on its
// own explanations (optional, refine.h), which q may follow. Everything random comes from the configuration's seed, and
// state() holds everything that the future depends on, so a run that was interrupted and resumed ends with the same
// weights, bit for bit, as one that was not.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/named_tensors.h"
#include "anesi/data/dataset.h"
#include "anesi/train/configuration.h"
#include "anesi/train/evaluate.h"

namespace anesi {

struct Progress {
  std::string phase;  // "q", "starts", "perception", "refine" or "follow"
  std::int64_t step = 0, steps = 0;
  std::int64_t epoch = 0, epochs = 0;       // 0 in phases that have none
  double loss = kNoLoss, q_loss = kNoLoss;  // means since the last evaluation
  double seconds = 0;                       // of training so far, in all phases and resumed parts, without evaluations
  std::int64_t restarts = 0;                // of the perception phase
  std::string split = {};                   // that evaluations are of: "validation", or "test" where there is none

  static constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();
};

// What the trainer tells its surroundings. The calls come from the thread that runs it.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const Progress&) {}
  // After each phase and at the end of an epoch; `evaluation` is empty in the phase of q. A good moment for a
  // checkpoint.
  virtual void on_evaluation(const Progress&, const std::optional<Evaluation>&) {}
  // Asked after each step; true ends the run early, with state() as it is.
  virtual bool should_stop() { return false; }
};

class Trainer {
 public:
  // The arguments outlive the trainer. Seeds torch's own generator too, for modules that draw from it.
  Trainer(const Configuration& configuration, const Task& task, const Splits& data);

  // Takes the q that q.from names, where it names one and it is not taken yet. run() begins with this; call it before
  // to learn early whether that q is there and fits. Throws Error where not.
  void take_q();

  // Trains from where it stands to the end. False where the observer stopped it.
  bool run(TrainingObserver& observer);

  // A copy of everything that the future depends on.
  NamedTensors state() const;
  // Throws Error where the state is of another configuration or other data.
  void load_state(const NamedTensors& state);

  // Refined, once that has begun.
  Perception& perception() { return refinement_ ? *refinement_->perception() : *perception_; }
  Perception& unrefined() { return *perception_; }
  // Null before refinement, and where there is none.
  const ExplainedLabels* explained_labels() const { return labels_ ? &*labels_ : nullptr; }
  // How often perception was started anew because its explanations were too unlikely.
  std::int64_t restarts() const { return restarts_; }
  const InferenceModel& model() const { return model_; }
  // Null unless the loss is A-NeSI's.
  AmortizedLoss* amortized() { return amortized_; }
  double seconds() const { return seconds_; }
  std::int64_t steps_per_epoch() const;

  // One step of the perception phase on the given examples, int64 [batch]; what run() repeats. Returns (loss, q loss).
  std::pair<double, double> step(const torch::Tensor& rows);

 private:
  // What a step does besides looking at examples.
  struct StepPlan {
    bool q_learns, perception_learns;
    double smoothing, entropy;
    Schedule::Rate rate;
  };
  std::pair<double, double> step(const torch::Tensor& rows, const StepPlan& plan);
  // Training examples, or random pieces of them where those are learned from.
  Batch shown(const torch::Tensor& rows, at::Generator generator) const;

  bool run_q(TrainingObserver& observer);
  // Trains several perceptions for a while and keeps the one whose loss is lowest.
  bool run_starts(TrainingObserver& observer);
  void take_weights(std::uint64_t seed);
  bool run_perception(TrainingObserver& observer);
  bool run_refine(TrainingObserver& observer);
  // q learns what the refined perception believes.
  bool run_follow(TrainingObserver& observer);
  // Explains the labels; where that costs too many nats, starts perception anew and returns false, or, once there have
  // been enough starts, takes the best of them.
  bool explained_or_restarted();
  void start_refinement();
  bool evaluates_validation() const { return data_.validation.size() > 0; }
  std::int64_t follow_steps() const;
  Evaluation evaluate_held_out();
  // The order of the training examples in an epoch, from the seed and the epoch alone.
  torch::Tensor order_of_epoch(std::int64_t epoch) const;
  Progress progress(const std::string& phase, std::int64_t step, std::int64_t steps) const;

  const Configuration& configuration_;
  const Task& task_;
  const Problem& problem_;
  const Problem& learned_;  // problem_, or that of the pieces which are learned from
  std::shared_ptr<Perception> perception_;
  const Splits& data_;
  torch::Tensor rows_;         // the training examples that perception learns from, int64
  torch::Tensor fingerprint_;  // of the data, int64
  std::int64_t batch_;
  at::Generator generator_;
  InferenceModel model_;
  std::unique_ptr<QueryLoss> loss_;
  AmortizedLoss* amortized_ = nullptr;  // loss_, where it is that
  std::unique_ptr<Adam> optimizer_;

  // Where training stands.
  std::int64_t q_steps_done_ = 0, start_steps_done_ = 0, steps_done_ = 0, follow_steps_done_ = 0, restarts_ = 0;
  double loss_sum_ = 0, q_loss_sum_ = 0;
  std::int64_t loss_count_ = 0, q_loss_count_ = 0;
  double seconds_ = 0;
  double start_loss_ = 0;  // of the start that is under way, over the steps that count
  struct Candidate {
    double loss;
    NamedTensors weights;  // of perception
  };
  std::optional<Candidate> best_candidate_;  // while starts are compared
  struct Start {
    ExplainedLabels labels;
    NamedTensors weights;  // of perception
  };
  std::optional<Start> best_start_;  // of those that were given up
  std::optional<ExplainedLabels> labels_;
  std::unique_ptr<Refinement> refinement_;  // null until that phase
  bool beliefs_checked_ = false;            // a perception that does not fit its problem is found at the first step
};

}  // namespace anesi

// Learning from one's own explanations.
//
// Where perception is nearly right, a label decides the rest: the most probable world that gives the known output is
// right far more often than the most probable world. This phase takes such worlds for the truth and trains perception
// on them by plain cross-entropy (hard EM), a fresh network or the one at hand, one or several. It needs the output of
// each training example and the problem's search (search/most_probable_worlds.h), and it is reported apart from plain
// A-NeSI.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/train/explained_labels.h"
#include "anesi/train/kinds.h"
#include "anesi/train/learner.h"
#include "anesi/train/phase.h"

namespace anesi {

// How labels are explained: each by a search for its most probable world; all at once by kinds of variables that look
// alike; by the true worlds, where the data have them (a ceiling, not a result); or softly, by what q believes of each
// variable once it knows the label.
enum class LabelsBy { kSearch, kKinds, kTruth, kMarginals };
constexpr std::array<std::string_view, 4> names_of(LabelsBy) { return {"search", "kinds", "truth", "marginals"}; }

struct RefineOptions {
  std::int64_t epochs = 0, batch = 64, members = 1, restarts = 3, q_steps = 0, rounds = 1;
  bool fresh = true, augment = false;
  Schedule schedule{.lr = 0.004, .shape = Shape::kOneCycle, .warmup = 0.1};
  double weight_decay = 0.05, smoothing = 0.05, average = 0, restart_gap = 0;
  SearchLimits limits;
  LabelsBy labels = LabelsBy::kSearch;
  KindsOptions kinds;

  void describe(OptionTable& table) {
    table.add("epochs", epochs, {0, 1000000}, "passes over the explained training data; 0: perception is not refined");
    table.add("labels", labels,
              "how labels are explained: each by a search for its most probable world; all at once by kinds of "
              "variables that look alike; by the true worlds, where the data have them (a ceiling, not a result); or "
              "softly, by what a multilinear q believes of each variable once it knows the label");
    table.add("rounds", rounds, {1, 100},
              "how often perception learns through q and is refined; each time but the first it begins with the "
              "refined network, at half of train.lr");
    table.add("batch", batch, {1, 1000000}, "world variables in a step");
    schedule.describe(table);
    table.add("weight_decay", weight_decay, {0, 10}, "decoupled (AdamW)");
    table.add("smoothing", smoothing, {0, 1},
              "label smoothing at the start; it fades and is gone after three quarters of the steps");
    table.add("augment", augment, "change inputs at random in ways that leave their worlds as they are");
    table.add("members", members, {1, 1000}, "networks trained, whose beliefs are averaged");
    table.add("fresh", fresh, "start from new weights rather than from those at hand");
    table.add("average", average, {0, 0.99999},
              "decay of an exponential moving average of the weights that is used in their place; 0: none");
    table.add("nats", limits.nats, {0, 1000000},
              "explanations less likely than the argmax by more than this are left out");
    table.add("nodes", limits.nodes, {1, 1000000000}, "steps after which the search for an explanation gives up");
    table.add("restart_gap", restart_gap, {0, 1000000},
              "train perception anew, from other weights, where explanations of the labels cost more nats than this in "
              "the mean; 0: never");
    table.add("restarts", restarts, {0, 1000}, "how often perception is trained anew at most (refine.restart_gap)");
    table.add("q_steps", q_steps, {0, 100000000},
              "updates of q on what the refined perception believes, after it has learned; 0: q stays behind");
  }
};

// As the options say, for the training labels that tell what an output is. Leaves perception in evaluation mode.
ExplainedLabels explain_labels(const Learner& learner, const RefineOptions& options);

// "refine", "refine 2", …: phases of later rounds have names of their own.
std::string name_of_round(const std::string& phase, std::int64_t round);

class RefinePhase final : public Phase {
 public:
  // The learner's seed decides weights, order and augmentation. Throws UsageError where inputs are to be augmented and
  // the learner does not know how.
  // Rounds are counted from 0 (RefineOptions::rounds).
  RefinePhase(Learner& learner, RefineOptions options, std::int64_t round = 0);

  std::string name() const override { return name_of_round("refine", round_); }
  // Makes the networks that are to learn. Throws Error where no label was explained.
  void begin() override;
  std::int64_t steps() const override { return options_.members * steps_of_member_; }
  std::int64_t epochs() const override { return options_.epochs * options_.members; }
  // Of the member whose turn it is.
  StepLosses step(std::int64_t index) override;
  std::optional<Evaluation> evaluate() override { return learner_.evaluate(); }
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  // A seed for each use, far from its neighbours.
  std::uint64_t seed_for(std::int64_t member, std::int64_t use) const;
  void begin_member(std::int64_t member);
  void end_member(std::int64_t member);
  std::int64_t steps_per_epoch() const { return steps_of_member_ / options_.epochs; }
  // The order of an epoch, counted over all members.
  const torch::Tensor& order_of(std::int64_t epoch);

  Learner& learner_;
  RefineOptions options_;
  std::int64_t round_;
  std::vector<std::shared_ptr<Perception>> members_;  // empty until the phase begins
  std::shared_ptr<Perception> network_;               // all of them; the learner's, until another round takes it over
  std::int64_t rows_of_step_ = 1, items_ = 0, steps_of_member_ = 0;
  bool separable_ = false;
  torch::Tensor order_;
  std::int64_t order_epoch_ = -1;        // that order_ is of
  std::unique_ptr<Adam> optimizer_;      // of the member whose turn it is; null between members
  std::int64_t turn_ = 0;                // whose that is
  std::vector<torch::Tensor> averages_;  // of the member's weights; empty where there is none
};

}  // namespace anesi

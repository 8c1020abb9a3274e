// Learning from one's own explanations.
//
// Where perception is nearly right, a label decides the rest: the most probable world that gives the known output is
// right far more often than the most probable world. This phase takes such worlds for the truth and trains perception
// on them by plain cross-entropy (hard EM), a fresh network or the one at hand, one or several. It needs the output of
// each training example and the problem's search (search/consistent_worlds.h), and it is reported apart from plain
// A-NeSI.
#pragma once

#include <memory>
#include <optional>

#include "anesi/core/named_tensors.h"
#include "anesi/data/dataset.h"
#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/search/consistent_worlds.h"
#include "anesi/tasks/task.h"
#include "anesi/train/kinds.h"

namespace anesi {

struct RefineOptions {
  std::int64_t epochs = 0, batch = 64, members = 1, restarts = 3, q_steps = 0;
  bool fresh = true, augment = false;
  Schedule schedule{.lr = 0.004, .shape = "one_cycle", .warmup = 0.1};
  double weight_decay = 0.05, smoothing = 0.05, average = 0, restart_gap = 0;
  SearchLimits limits;
  std::string labels = "search";
  KindsOptions kinds;

  void describe(OptionTable& table) {
    table.add("epochs", epochs, {0, 1000000}, "passes over the explained training data; 0: perception is not refined");
    table.add("labels", labels, {"search", "kinds", "truth"},
              "how labels are explained: each by a search for its most probable world; all at once by kinds of "
              "variables that look alike; or by the true worlds, where the data have them (a ceiling, not a result)");
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
    table.add("restarts", restarts, {0, 1000}, "how often at most");
    table.add("q_steps", q_steps, {0, 100000000},
              "updates of q on what the refined perception believes, after it has learned; 0: q stays behind");
  }
};

// The most probable worlds behind the labels of those training examples that have one within the limits.
struct ExplainedLabels {
  torch::Tensor rows;    // int64 [kept], of the dataset
  torch::Tensor worlds;  // int64 [kept, variables]
  double gap = 0;        // mean over all examples whose output holds, in nats; limits.nats where none was found

  NamedTensors state() const;
  // Throws Error where something is missing.
  static ExplainedLabels from(const NamedTensors& state);
};
// As the options say. Leaves perception in evaluation mode. Labels that only say what the output is not are left out.
// `q_judge` is for kinds.judge=q.
ExplainedLabels explain_labels(const Problem& problem, Perception& perception, const Dataset& data,
                               const RefineOptions& options, std::uint64_t seed = 0, const QJudge* q_judge = nullptr);

class Refinement {
 public:
  // All arguments outlive it. `seed` decides weights, order and augmentation. Throws Error where no label was
  // explained, UsageError where the task cannot augment.
  Refinement(const RefineOptions& options, const Task& task, const Perception& at_hand, const Dataset& data,
             ExplainedLabels labels, std::uint64_t seed);

  std::int64_t steps() const { return options_.members * steps_of_member_; }
  std::int64_t steps_done() const { return done_; }
  std::int64_t steps_per_epoch() const { return steps_of_member_ / options_.epochs; }
  // One step of the member whose turn it is; returns its loss.
  double step();

  // What was trained: one network, or an Ensemble.
  const std::shared_ptr<Perception>& perception() const { return whole_; }

  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  void begin_member();
  void end_member();
  // The order of the epoch that the next step belongs to.
  const torch::Tensor& order();

  const RefineOptions& options_;
  const Task& task_;
  const Dataset& data_;
  ExplainedLabels labels_;
  std::uint64_t seed_;
  std::vector<std::shared_ptr<Perception>> members_;
  std::shared_ptr<Perception> whole_;
  std::int64_t rows_of_step_ = 1, items_ = 0, steps_of_member_ = 0, done_ = 0;
  bool separable_ = false;
  torch::Tensor order_;
  std::int64_t order_epoch_ = -1;  // that order_ is of, counted over all members
  std::unique_ptr<Adam> optimizer_;
  std::vector<torch::Tensor> averages_;  // of the member's weights; empty where there is none
};

// The kind of perception that a run with these options ends with, for weights to be loaded into.
std::shared_ptr<Perception> refined_perception(const RefineOptions& options, const Task& task);

}  // namespace anesi

// All that decides a run: the task, every option, the seed.
//
// Every option of every part stands in one table (see option_table.h), which presets, --set, config.toml and --help
// share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "anesi/exact/exact_model.h"
#include "anesi/losses/amortized.h"
#include "anesi/losses/rloo.h"
#include "anesi/models/architecture.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/choose.h"
#include "anesi/tasks/task.h"
#include "anesi/train/refine.h"

namespace anesi {

struct TrainOptions {
  std::int64_t epochs = 20, frozen_epochs = 0;
  std::int64_t batch = 0;
  Schedule schedule;
  double weight_decay = 0;
  double smoothing = 0;
  std::string precision = "f32";
  bool validation = false;
  bool negatives = true;
  bool pieces = false;
  double entropy = 0, last_entropy = 0;
  std::int64_t evaluate_every = 1, starts = 1, start_steps = 100;

  void describe(OptionTable& table) {
    table.add("epochs", epochs, {0, 1000000}, "passes over the training data");
    table.add("frozen_epochs", frozen_epochs, {0, 1000000},
              "of them, at the start: q learns beside an untrained perception, which stays as it is");
    table.add("batch", batch, {0, 1000000}, "examples in a step; 0: as many as hold about 240 world variables");
    schedule.describe(table);
    table.add("weight_decay", weight_decay, {0, 10}, "of perception's weights, decoupled (AdamW)");
    table.add("smoothing", smoothing, {0, 1},
              "weight of the cross-entropy from uniform to perception's beliefs, added to the loss: label smoothing "
              "where labels are not of the variables; fades to nothing at three quarters of training");
    table.add("precision", precision, {"f32", "bf16"}, "of q's matrix products in training; weights stay f32");
    table.add("validation", validation,
              "hold out a sixth of the training data and evaluate on it while training, unless the data have a part "
              "for that");
    table.add("negatives", negatives, "train on labels that only say what the output is not, where there are such");
    table.add("pieces", pieces, "learn from random pieces of examples, where a task has such, instead of whole ones");
    table.add("entropy", entropy, {0, 10}, "weight of the beliefs' entropy, taken off the loss, at the start");
    table.add("last_entropy", last_entropy, {0, 10}, "the same at the end; between, it changes by equal factors");
    table.add("starts", starts, {1, 1000},
              "perceptions that are begun, each from weights of its own; the one with the lowest loss is trained on");
    table.add("start_steps", start_steps, {1, 1000000},
              "steps after which they are compared, by the last quarter of them; q stays as it is meanwhile");
    table.add("evaluate_every", evaluate_every, {1, 1000000}, "epochs between evaluations");
  }
};

struct ModelOptions {
  std::string architecture = "transducer", from;
  std::int64_t pretrain = 0, every = 1;
  AmortizedOptions amortized;

  // Updates before perception starts.
  std::int64_t updates_alone() const { return from.empty() ? pretrain : 0; }

  void describe(OptionTable& table);
};

struct ExactOptions {
  std::string method = "auto";
  double seconds = 60;

  void describe(OptionTable& table) {
    table.add("method", method, exact_methods(), "how loss=exact counts; auto takes the first that the problem allows");
    table.add("seconds", seconds, {0.1, 1000000}, "time after which compiling a circuit is given up");
  }
};

struct EvaluateOptions {
  std::int64_t beam = 16;
  bool prune = false;
  double learned_threshold = 0;
  std::string decide = "symbolic";
  SearchLimits limits;

  void describe(OptionTable& table) {
    table.add("beam", beam, {1, 1000000},
              "width of the beam in the final evaluation and in predict; while training it is 1");
    table.add("prune", prune, "choose outputs under the problem's pruner, also where q.variant is not prune");
    table.add("decide", decide, {"symbolic", "neural", "likelihood", "gap"},
              "what `accuracy` counts: the most likely world's output, q's most likely output or, where labels say "
              "whether an output holds, a threshold on its likelihood or on the gap to the best world that gives it, "
              "fitted on validation data");
    table.add("nats", limits.nats, {0, 1000000}, "largest gap that is looked for");
    table.add("nodes", limits.nodes, {1, 1000000000}, "steps after which that search gives up");
    table.add(
        "learned_threshold", learned_threshold, {0, 1},
        "where no symbolic pruner prunes: leave out what q gives less than this at the uniform belief; 0: nothing");
  }
};

class Configuration {
 public:
  // The task's defaults: its first preset. Throws UsageError where there is no such task or preset.
  explicit Configuration(const std::string& task, const std::string& preset = "");
  Configuration(const Configuration&) = delete;  // the table refers to members
  Configuration& operator=(const Configuration&) = delete;

  // From the text of a config.toml. `origin` names the file in errors.
  static std::unique_ptr<Configuration> from_toml(const std::string& text, const std::string& origin);

  OptionTable& table() { return table_; }
  const OptionTable& table() const { return table_; }

  // The task as configured, and a q for it; untrained, their weights drawn from the seed. With loss=exact, q is exact
  // inference and has no weights. `context` adds where data are and where to say what is done.
  Task make_task(TaskContext context) const;
  InferenceModel make_model(const Problem& problem) const;
  std::int64_t batch_size(const Problem& problem) const;

  std::string task_name, preset, loss = "amortized";
  std::int64_t seed = 0;
  TrainOptions train;
  ModelOptions q;
  PriorOptions prior;
  ExactOptions exact;
  RlooOptions rloo;
  RefineOptions refine;
  EvaluateOptions eval;

 private:
  std::unique_ptr<TaskChoice> task_;
  std::map<std::string, std::unique_ptr<Architecture>> architectures_;
  OptionTable table_;
};

}  // namespace anesi

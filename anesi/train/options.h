// How training goes: the options of `train` and `q`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "anesi/losses/amortized.h"
#include "anesi/models/architecture.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/train/choose_q.h"
#include "anesi/train/kinds_start_phase.h"

namespace anesi {

// What perception begins with: random weights, or a table from kinds of inputs to beliefs (kinds_start_phase.h).
enum class StartFrom { kWeights, kKinds };
constexpr std::array<std::string_view, 2> names_of(StartFrom) { return {"weights", "kinds"}; }

// Which perception a phase ends with: that of its last epoch, or the one that did best on what is held out.
enum class Keep { kLast, kBest };
constexpr std::array<std::string_view, 2> names_of(Keep) { return {"last", "best"}; }

struct TrainOptions {
  std::int64_t epochs = 20, frozen_epochs = 0;
  std::int64_t batch = 0;
  Schedule schedule{};
  double weight_decay = 0;
  double smoothing = 0;
  Precision precision = Precision::kF32;
  bool validation = false;
  bool negatives = true;
  bool pieces = false, augment = false;
  double entropy = 0, last_entropy = 0;
  std::int64_t evaluate_every = 1, starts = 1, start_steps = 100;
  StartFrom start = StartFrom::kWeights;
  Keep keep = Keep::kLast;
  KindsStartOptions kinds_start = {};  // options of their own: start.kinds, …

  // Examples in a step.
  std::int64_t batch_size(const Space& worlds) const {
    constexpr std::int64_t kVariablesInABatch = 240;
    return batch > 0 ? batch : std::max<std::int64_t>(1, kVariablesInABatch / worlds.variables());
  }

  void describe(OptionTable& table) {
    table.add("epochs", epochs, {0, 1000000}, "passes over the training data");
    table.add("frozen_epochs", frozen_epochs, {0, 1000000},
              "epochs at the start in which q learns beside an untrained perception, which stays as it is");
    table.add("batch", batch, {0, 1000000}, "examples in a step; 0: as many as hold about 240 world variables");
    schedule.describe(table);
    table.add("weight_decay", weight_decay, {0, 10}, "of perception's weights, decoupled (AdamW)");
    table.add("smoothing", smoothing, {0, 1},
              "weight of the cross-entropy from uniform to perception's beliefs, added to the loss: label smoothing "
              "where labels are not of the variables; fades to nothing at three quarters of training");
    table.add("precision", precision, "of q's matrix products in training; weights stay f32");
    table.add("validation", validation,
              "hold out a sixth of the training data and evaluate on it while training, unless the data have a part "
              "for that");
    table.add("negatives", negatives, "train on labels that only say what the output is not, where there are such");
    table.add("pieces", pieces, "learn from random pieces of examples, where a task has such, instead of whole ones");
    table.add("augment", augment, "change inputs at random in ways that leave their worlds as they are");
    table.add("entropy", entropy, {0, 10}, "weight of the beliefs' entropy, taken off the loss, at the start");
    table.add("last_entropy", last_entropy, {0, 10},
              "weight of the beliefs' entropy at the end of training; from train.entropy to here it changes by equal "
              "factors");
    table.add("starts", starts, {1, 1000},
              "perceptions that are begun, each from weights of its own; the one with the lowest loss is trained on");
    table.add("start_steps", start_steps, {1, 1000000},
              "steps that each of train.starts perceptions is trained before they are compared, by the last quarter of "
              "them; q "
              "stays as it is meanwhile");
    table.add(
        "start", start,
        "what perception begins with: its random weights, or what a table from kinds of inputs to beliefs learned "
        "through q");
    table.add("keep", keep,
              "which perception is kept: that of the last epoch, or the one that did best on the validation data "
              "(evaluated every train.evaluate_every epochs)");
    table.add("evaluate_every", evaluate_every, {1, 1000000}, "epochs between evaluations");
  }
};

struct QOptions {
  std::string architecture = kAutoArchitecture, from = {};
  std::int64_t pretrain = 0, every = 1;
  bool frozen = false, given = true;
  Schedule schedule{};
  double joint_lr = 0;
  AmortizedOptions amortized{};

  // Updates before perception starts.
  std::int64_t updates_alone() const { return from.empty() ? pretrain : 0; }

  void describe(OptionTable& table) {
    auto names = architectures().names();
    names.emplace_back(kAutoArchitecture);
    table.add("architecture", architecture, std::move(names),
              "of q(y|P) and q(w|y,P); auto finds out what c is by asking it (discover.*), and chooses");
    table.add("pretrain", pretrain, {0, 100000000}, "updates of q before perception starts");
    table.add("from", from, {},
              "a run whose q is taken as it is, in place of q.pretrain: one q for many perceptions, or for larger "
              "problems where it fits them; empty: none");
    table.add("every", every, {1, 1000000}, "steps of perception for one update of q, where it is not frozen");
    table.add("frozen", frozen, "train q before perception only, not beside it");
    table.add(
        "given", given,
        "where a task has a more general problem (a path between any two cells), learn a q that serves it; false: "
        "one for the task's own");
    schedule.describe(table);
    table.add("joint_lr", joint_lr, {0, 10},
              "learning rate at which the schedule begins anew when perception starts to learn, and once more when "
              "it is refined (refine.q_steps); 0: it goes on");
    amortized.describe(table);
  }
};

}  // namespace anesi

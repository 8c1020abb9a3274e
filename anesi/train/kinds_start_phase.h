// A start for perception where labels say little of each variable: a table before a network.
//
// From random weights, a loss through a label of sixty digits sits on a plateau: no digit is read, so none can be
// learned from the others. A table does not: inputs are sorted into a few hundred kinds by how they look (k-means of
// their main components), and what is learned through q is one belief for each kind, a few thousand numbers in place of
// a network. At first the beliefs of kinds that look alike are mixed, so that they agree. Of several random tables the
// likeliest goes on. Perception is then fitted to the table, and learns on its own. Nothing here knows what c is.
#pragma once

#include <memory>
#include <optional>

#include "anesi/optimize/adam.h"
#include "anesi/options/option_table.h"
#include "anesi/train/learner.h"
#include "anesi/train/phase.h"

namespace anesi {

struct KindsStartOptions {
  std::int64_t kinds = 400, components = 60, tables = 3, tries = 4, passes = 40, batch = 32, epochs = 3;
  double lr = 0.1, likeness = 0.03;

  void describe(OptionTable& table) {
    table.add("kinds", kinds, {2, 100000}, "kinds that inputs are sorted into");
    table.add("components", components, {1, 10000}, "main components of an input that they are sorted by");
    table.add("tables", tables, {1, 1000}, "random tables that are begun; the likeliest goes on");
    table.add("tries", tries, {1, 1000000}, "passes over the labels before tables are compared");
    table.add("passes", passes, {1, 1000000}, "passes over the labels that the table learns in all");
    table.add("batch", batch, {1, 1000000}, "examples in a step of the table");
    table.add("lr", lr, {0, 10}, "learning rate of the table");
    table.add(
        "likeness", likeness, {1e-6, 100},
        "how far apart kinds may look, in parts of the median squared distance, whose beliefs are mixed at first");
    table.add("epochs", epochs, {1, 1000000}, "passes over the inputs in which perception is fitted to the table");
  }
};

class KindsStartPhase final : public Phase {
 public:
  // Throws UsageError where perception does not look at variables one by one or their domains differ.
  KindsStartPhase(Learner& learner, const KindsStartOptions& options);

  std::string name() const override { return "start"; }
  void begin() override;
  std::int64_t steps() const override { return table_steps() + fit_steps_; }
  StepLosses step(std::int64_t index) override;
  bool reports_after(std::int64_t index) const override { return index + 1 == table_steps() || index + 1 == steps(); }
  std::optional<Evaluation> evaluate() override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

 private:
  // The tables that are compared, then the one that goes on.
  std::int64_t steps_of_try() const { return options_.tries * steps_per_pass_; }
  std::int64_t table_steps() const {
    return options_.tables * steps_of_try() +
           std::max<std::int64_t>(0, options_.passes - options_.tries) * steps_per_pass_;
  }
  void sort_into_kinds();
  void begin_table(std::uint64_t which);
  // Beliefs of each kind, [kinds, domain].
  torch::Tensor table_beliefs(bool mixed) const;
  StepLosses table_step(std::int64_t index);
  StepLosses fit_step(std::int64_t index);
  const torch::Tensor& order_of(std::int64_t pass, std::int64_t size);

  Learner& learner_;
  KindsStartOptions options_;
  torch::Tensor kinds_;     // int64 [examples, variables]; undefined until the phase begins
  torch::Tensor likeness_;  // double [kinds, kinds], rows sum to one
  torch::Tensor logits_;    // double [kinds, domain], of the table that learns
  std::unique_ptr<Adam> optimizer_;
  torch::Tensor best_logits_;  // of the tables compared so far; undefined before the first
  double loss_ = 0, best_loss_ = 0;
  std::int64_t steps_per_pass_ = 1, fit_steps_ = 0, fit_steps_per_epoch_ = 1;
  torch::Tensor order_;
  std::int64_t order_key_ = -1;
  bool fitting_ = false;
};

}  // namespace anesi

// All that decides a run: the task, every option, the seed.
//
// Every option of every part stands in one table (see option_table.h), which presets, --set, config.toml and --help
// share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "anesi/discover/discover.h"
#include "anesi/losses/losses.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/option_table.h"
#include "anesi/predict/predictor.h"
#include "anesi/priors/priors.h"
#include "anesi/tasks/task.h"
#include "anesi/train/options.h"
#include "anesi/train/refine_phase.h"

namespace anesi {

inline constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;

class Configuration {
 public:
  // The task's defaults: its first preset. Throws UsageError where there is no such task or preset.
  explicit Configuration(const std::string& task, const std::string& preset = "");
  Configuration(const Configuration&) = delete;  // the table refers to members
  Configuration& operator=(const Configuration&) = delete;

  // From the text of a config.toml. `origin` names the file in errors.
  static std::unique_ptr<Configuration> from_toml(const std::string& text, const std::string& origin);
  // From the options that a saved model tells, of this version or an earlier one. Options that are not known, and a
  // preset that is not there any more, are passed over: they decided how it was trained, not what it is.
  static std::unique_ptr<Configuration> from_saved(const std::string& task, const std::string& preset,
                                                   const std::map<std::string, std::string>& options);

  OptionTable& table() { return table_; }
  const OptionTable& table() const { return table_; }
  // Every option by its full name.
  std::map<std::string, std::string> values() const;
  // Whether an option has any effect beside the others' values: that of an architecture, a prior or a loss which is not
  // the chosen one has none.
  bool applies(const std::string& option) const;

  // The task as configured. `context` adds where data are and where to say what is done.
  Task make_task(TaskContext context) const;
  // Whether c is to be asked what it is before a q is chosen: q.architecture=auto, or exact inference where the problem
  // declares nothing that allows it.
  bool discovers(const Problem& problem) const;
  // A q of some architecture for the problem, untrained, its weights drawn from the seed; kExactArchitecture is exact
  // inference. Without a name: that of q.architecture, or exact inference where the loss is that.
  InferenceModel make_model(const Problem& problem, const std::string& architecture = "") const;
  std::unique_ptr<BeliefPrior> make_prior(const Space& worlds) const;
  // How the loss reaches perception.
  const LossEntry& loss_entry() const { return losses().find(loss); }
  LossOptions loss_options() const;

  std::string task_name, preset, loss = "amortized";
  std::int64_t seed = 0;
  TrainOptions train;
  QOptions q;
  PriorOptions prior;
  ExactOptions exact;
  SemanticOptions semantic;
  DiscoverOptions discover;
  RlooOptions rloo;
  EstimatedOptions estimate;
  RefineOptions refine;
  PredictorOptions eval;

 private:
  std::unique_ptr<TaskChoice> task_;
  std::map<std::string, std::unique_ptr<Architecture>> architectures_;
  std::map<std::string, std::unique_ptr<PriorChoice>> priors_;
  OptionTable table_;
};

}  // namespace anesi

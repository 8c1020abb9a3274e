#include "anesi/run/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "anesi/core/error.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/enumeration.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/parse_toml.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// What options were called in earlier versions.
const std::map<std::string, std::string>& renamed_options() {
  static const std::map<std::string, std::string> names{{"q.queries", "q.given"}};
  return names;
}

std::string current_name(const std::string& option) {
  const auto found = renamed_options().find(option);
  return found == renamed_options().end() ? option : found->second;
}

// "q" of "q.pretrain"; "" of "seed".
std::string group_of(const std::string& option) {
  const auto dot = option.find('.');
  return dot == std::string::npos ? "" : option.substr(0, dot);
}

}  // namespace

Configuration::Configuration(const std::string& task, const std::string& preset_name) : task_name(task) {
  const auto& entry = tasks().find(task);
  if (entry.presets.empty())
    throw Error(fmt::format("task {} has no preset; give it one, with no settings if need be", task));
  const auto& chosen = preset_name.empty() ? entry.presets.at(0) : entry.preset(preset_name);
  preset = chosen.name;
  task_ = entry.choose();
  table_.add("task.name", task_name, {task}, "the task");
  table_.add("preset", preset, {preset}, "where these options started from");
  table_.add("seed", seed, {0, kLargestSeed}, "decides every random draw");
  std::string ways;
  for (const auto& [name, way] : losses().all())
    ways += fmt::format("{}{}: {}", ways.empty() ? "" : "; ", name, way.summary);
  table_.add("loss", loss, losses().names(), "how labels reach perception. " + ways);
  table_.add_group("task", *task_);
  table_.add_group("train", train);
  table_.add_group("start", train.kinds_start);
  table_.add_group("q", q);
  table_.add_group("prior", prior);
  table_.add_group("exact", exact);
  table_.add_group("semantic", semantic);
  table_.add_group("discover", discover);
  table_.add_group("rloo", rloo);
  table_.add_group("estimate", estimate);
  table_.add_group("refine", refine);
  table_.add_group("kinds", refine.kinds);
  table_.add_group("eval", eval);
  for (const auto& [name, architecture] : anesi::architectures().all()) {
    table_.add_group(name, *(architectures_[name] = architecture.choose()));
  }
  for (const auto& [name, one] : anesi::priors().all()) table_.add_group(name, *(priors_[name] = one.choose()));
  for (const auto& setting : chosen.settings) table_.set(setting);
}

std::unique_ptr<Configuration> Configuration::from_toml(const std::string& text, const std::string& origin) {
  const auto root = parse_toml(text, origin);
  const auto task = root.at_path("task.name").value<std::string>();
  const auto preset = root["preset"].value<std::string>();
  if (!task) throw UsageError(fmt::format("{}: task.name is missing; it says which task the run is of", origin));
  auto configuration = std::make_unique<Configuration>(*task, preset.value_or(""));
  configuration->table().load_toml(text, origin);
  return configuration;
}

std::unique_ptr<Configuration> Configuration::from_saved(const std::string& task, const std::string& preset,
                                                         const std::map<std::string, std::string>& options) {
  const auto& presets = tasks().find(task).presets;
  const bool known = std::ranges::find(presets, preset, &Preset::name) != presets.end();
  auto configuration = std::make_unique<Configuration>(task, known ? preset : "");
  for (const auto& [saved_name, value] : options) {
    const auto name = current_name(saved_name);
    if (name == "preset" || !configuration->table().contains(name)) continue;
    configuration->table().set(name, value);
  }
  return configuration;
}

std::map<std::string, std::string> Configuration::values() const {
  std::map<std::string, std::string> values;
  for (const auto& row : table_.rows()) values[row.name] = table_.get(row.name);
  return values;
}

bool Configuration::applies(const std::string& option) const {
  const auto group = group_of(option);
  const auto& entry = loss_entry();
  if (architectures_.contains(group)) return !entry.exact && group == q.architecture;
  if (priors_.contains(group)) return entry.learns_q && group == prior.kind;
  if (group == "exact") return entry.exact;
  if (group == "discover") return entry.exact || (entry.learns_q && q.architecture == kAutoArchitecture);
  if (group == "rloo") return loss.find("rloo") != std::string::npos;
  if (group == "estimate") return loss == "indecater" || loss == "gumbel";
  if (group == "start") return train.start == StartFrom::kKinds;
  if (group == "kinds") return refine.epochs > 0 && refine.labels == LabelsBy::kKinds;
  if (group == "refine") return refine.epochs > 0 || option == "refine.epochs";
  if (group == "q") return entry.learns_q || (option == "q.architecture" && !entry.exact);
  if (group != "prior") return true;
  if (!entry.learns_q) return false;
  if (option == "prior.kind") return true;
  if (option == "prior.concentration") return prior.kind == "fixed";
  if (option == "prior.window") return prior.kind == "fitted" || prior.kind == "observed";
  return prior.kind == "fitted";
}

Task Configuration::make_task(TaskContext context) const {
  context.seed = static_cast<std::uint64_t>(seed);
  context.validation = train.validation;
  if (const char* named = std::getenv("ANESI_DATA"); !context.data && named != nullptr && *named != '\0') {
    context.data = named;
  }
  return task_->make(context);
}

bool Configuration::discovers(const Problem& problem) const {
  if (!loss_entry().exact) return loss_entry().through_q && q.architecture == kAutoArchitecture;
  return exact.method == "auto" && problem.facts().find<Automaton>() == nullptr && !has_formula(problem) &&
         problem.worlds().points() > kMostWorldsEnumerated;
}

InferenceModel Configuration::make_model(const Problem& problem, const std::string& architecture) const {
  const auto& name = architecture.empty() ? q.architecture : architecture;
  if (name == kExactArchitecture || (architecture.empty() && loss_entry().exact)) {
    return make_exact_model(problem, exact);
  }
  if (!architectures_.contains(name))
    throw UsageError("q.architecture=" + name + ": only a q that is learned through is chosen by asking c");
  const SeededWeights weights(static_cast<std::uint64_t>(seed) + 1);
  auto model = architectures_.at(name)->make(problem, q.amortized.explains());
  model.architecture = name;
  for (const auto& row : table_.rows()) {
    if (group_of(row.name) == name) model.options[row.name] = table_.get(row.name);
  }
  return model;
}

std::unique_ptr<BeliefPrior> Configuration::make_prior(const Space& worlds) const {
  return priors_.at(prior.kind)->make(worlds, prior);
}

LossOptions Configuration::loss_options() const {
  LossOptions options{.q = q.amortized, .exact = exact, .rloo = rloo, .estimate = estimate, .semantic = semantic};
  options.q.precision = train.precision;
  return options;
}

}  // namespace anesi

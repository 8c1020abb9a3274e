#include "anesi/train/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "anesi/core/error.h"
#include "anesi/core/seeded.h"

namespace anesi {
namespace {

std::vector<std::int64_t> read_numbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (failure != std::errc())
      throw UsageError(fmt::format("output '{}': numbers with spaces or commas between", text));
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

}  // namespace

void ModelOptions::describe(OptionTable& table) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : anesi::architectures()) names.push_back(name);
  table.add("architecture", architecture, names, "of q(y|P) and q(w|y,P)");
  table.add("pretrain", pretrain, {0, 100000000}, "updates of q before perception starts");
  table.add(
      "from", from, {},
      "a run whose q is taken as it is, in place of q.pretrain: one q for many perceptions, or for larger problems "
      "where it fits them; empty: none");
  table.add("every", every, {1, 1000000}, "steps of perception for one update of q, where it is not frozen");
  amortized.describe(table);
}

Configuration::Configuration(const std::string& task, const std::string& preset_name) : task_name(task) {
  const auto& entry = find_task(task);
  const auto& chosen = preset_name.empty() ? entry.presets.at(0) : entry.preset(preset_name);
  preset = chosen.name;
  task_ = entry.choose();
  table_.add("task.name", task_name, {task}, "the task");
  table_.add("preset", preset, {preset}, "where these options started from");
  table_.add("seed", seed, {0, std::int64_t{1} << 53}, "decides every random draw");
  table_.add("loss", loss, {"amortized", "exact", "rloo", "amortized+rloo"},
             "how labels reach perception: through q, through exact inference where the problem allows it, by drawing "
             "worlds and "
             "applying c (REINFORCE with a leave-one-out baseline), or through q and so at once");
  table_.add_group("task", *task_);
  table_.add_group("train", train);
  table_.add_group("q", q);
  table_.add_group("prior", prior);
  table_.add_group("palette", prior.palette);
  table_.add_group("exact", exact);
  table_.add_group("rloo", rloo);
  table_.add_group("refine", refine);
  table_.add_group("kinds", refine.kinds);
  table_.add_group("eval", eval);
  for (const auto& [name, architecture] : anesi::architectures()) {
    table_.add_group(name, *(architectures_[name] = architecture.make()));
  }
  for (const auto& setting : chosen.settings) table_.set(setting);
}

std::unique_ptr<Configuration> Configuration::from_toml(const std::string& text, const std::string& origin) {
  std::optional<std::string> task, preset;
  try {
    const auto root = toml::parse(text, origin);
    task = root.at_path("task.name").value<std::string>();
    preset = root["preset"].value<std::string>();
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}: line {}: {}", origin, error.source().begin.line, error.description()));
  }
  if (!task) throw UsageError(fmt::format("{}: task.name is missing; it says which task the run is of", origin));
  auto configuration = std::make_unique<Configuration>(*task, preset.value_or(""));
  configuration->table().load_toml(text, origin);
  return configuration;
}

Task Configuration::make_task(TaskContext context) const {
  context.seed = static_cast<std::uint64_t>(seed);
  context.validation = train.validation;
  if (const char* named = std::getenv("ANESI_DATA"); !context.data && named != nullptr && *named != '\0') {
    context.data = named;
  }
  const SeededWeights weights(context.seed);
  auto task = task_->make(context);
  task.perception = task.make_perception();
  const auto spaced = [](Values values) { return fmt::format("{}", fmt::join(values, " ")); };
  if (!task.show_world) task.show_world = spaced;
  if (!task.show_output) task.show_output = spaced;
  if (!task.lay_out_world) task.lay_out_world = task.show_world;
  if (!task.name_variable)
    task.name_variable = [](std::int64_t variable) { return fmt::format("variable {}", variable + 1); };
  if (!task.name_output)
    task.name_output = [](std::int64_t variable) { return fmt::format("output {}", variable + 1); };
  if (!task.read_output) task.read_output = read_numbers;
  return task;
}

InferenceModel Configuration::make_model(const Problem& problem) const {
  if (loss == "exact") return make_exact_model(problem, exact.method, exact.seconds);
  const SeededWeights weights(static_cast<std::uint64_t>(seed) + 1);
  return architectures_.at(q.architecture)->build(problem, q.amortized.explains());
}

std::int64_t Configuration::batch_size(const Problem& problem) const {
  constexpr std::int64_t kVariablesInABatch = 240;
  if (train.batch > 0) return train.batch;
  return std::max<std::int64_t>(1, kVariablesInABatch / problem.worlds().variables());
}

}  // namespace anesi

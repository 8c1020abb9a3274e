// anesi repeat: the same training several times, and what comes out in the mean.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iostream>
#include <limits>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/progress_display.h"
#include "anesi/cli/training.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/run/summary.h"

namespace anesi::cli {
namespace {

struct RepeatFlags {
  CommonFlags common;
  std::string task, preset, out, vary;
  std::vector<std::string> settings;
  std::int64_t runs = 3, seed = 0;
};

// The option that differs from run to run, and its values.
struct Variation {
  std::string name = "seed";
  std::vector<std::int64_t> values;
};

Variation variation_of(const RepeatFlags& flags) {
  Variation variation;
  if (flags.vary.empty()) {
    for (std::int64_t run = 0; run < flags.runs; ++run) variation.values.push_back(flags.seed + run);
    return variation;
  }
  const auto equals = flags.vary.find('='), dots = flags.vary.find("..");
  const auto number = [&](std::size_t begin, std::size_t end) {
    std::int64_t value = 0;
    const auto* const stop = flags.vary.data() + end;
    const auto [rest, failure] = std::from_chars(flags.vary.data() + begin, stop, value);
    if (failure != std::errc() || rest != stop)
      throw UsageError(fmt::format("--vary {}: not a whole number", flags.vary));
    return value;
  };
  if (equals == std::string::npos || dots == std::string::npos || dots < equals) {
    throw UsageError(fmt::format("--vary {}: write NAME=FIRST..LAST, as in task.split=1..10", flags.vary));
  }
  variation.name = flags.vary.substr(0, equals);
  const auto first = number(equals + 1, dots), last = number(dots + 2, flags.vary.size());
  if (last < first) throw UsageError(fmt::format("--vary {}: an empty range", flags.vary));
  constexpr std::int64_t kMostRuns = 10000;
  if (first < -kMostRuns || last > std::numeric_limits<std::int32_t>::max() || last - first >= kMostRuns) {
    throw UsageError(fmt::format("--vary {}: more than {} runs, or values out of range", flags.vary, kMostRuns));
  }
  for (auto value = first; value <= last; ++value) variation.values.push_back(value);
  return variation;
}

// Shares are shown in per cent, everything else as it is.
std::string table_of(const Summaries& summaries) {
  std::string text;
  for (const auto& [name, summary] : summaries.all()) {
    const double scale = is_share(name) ? 100 : 1;
    std::vector<std::string> cells;
    for (const auto value : summary.values) cells.push_back(fmt::format("{:.2f}", scale * value));
    text += fmt::format("{:<24}{:>9.2f} ± {:<6.2f} {}  ({})\n", name, scale * summary.mean(),
                        scale * summary.deviation(), is_share(name) ? "%" : " ", fmt::join(cells, ", "));
  }
  return text;
}

std::unique_ptr<Configuration> configuration_of(const RepeatFlags& flags, const std::string& varied,
                                                std::int64_t value) {
  auto configuration = std::make_unique<Configuration>(flags.task, flags.preset);
  for (const auto& setting : flags.settings) configuration->table().set(setting);
  if (varied != "seed") configuration->table().set("seed", std::to_string(flags.seed));
  configuration->table().set(varied, std::to_string(value));
  return configuration;
}

// Runs that are there must be of the same task: means over a folder are of one thing.
void check_neighbours(const std::filesystem::path& out, const std::string& task) {
  if (std::filesystem::exists(out / "config.toml")) {
    throw UsageError(fmt::format(
        "{}: holds a run; --out wants a folder of runs, a new one or that of an earlier repeat", out.string()));
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(out, none)) {
    const auto config = entry.path() / "config.toml";
    if (!std::filesystem::exists(config)) continue;
    const auto there = Configuration::from_toml(read_file(config, kLargestSettings), config.string())->task_name;
    if (there == task) continue;
    throw UsageError(fmt::format("{}: holds runs of {} ({}); choose another --out for {}", out.string(), there,
                                 entry.path().filename().string(), task));
  }
}

// A new run, or the one that an earlier call left there.
Run run_in(const std::filesystem::path& directory, const Configuration& configuration) {
  if (!std::filesystem::exists(directory / "config.toml")) return Run::create(directory, configuration);
  auto run = Run::open(directory);
  if (run.configuration()->table().to_toml() == configuration.table().to_toml()) return run;
  throw Error(fmt::format("{}: holds a run with other options; choose another --out", directory.string()));
}

int repeat(const RepeatFlags& flags) {
  outlast_readers();
  const auto context = flags.common.context();
  const auto variation = variation_of(flags);
  // A mistake in the last of them shows before the first is trained.
  std::vector<std::unique_ptr<Configuration>> configurations;
  for (const auto value : variation.values) {
    configurations.push_back(configuration_of(flags, variation.name, value));
    configurations.back()->make_task(context);
  }
  if (!flags.out.empty()) check_neighbours(flags.out, flags.task);
  const auto out = flags.out.empty() ? fresh_run_directory(flags.task + "-repeat") : std::filesystem::path(flags.out);
  Summaries summaries;
  for (std::size_t index = 0; index < configurations.size(); ++index) {
    const auto& configuration = *configurations[index];
    const auto name = fmt::format("{}={}", variation.name, variation.values[index]);
    const auto run = run_in(out / fmt::format("{}-{}", variation.name, variation.values[index]), configuration);
    if (const auto figures = run.result()) {
      note(fmt::format("{}: finished before, in {}", name, run.directory().string()));
      summaries.add(*figures);
      continue;
    }
    const auto task = configuration.make_task(context);
    Training training(configuration, task, task.load(), run.found(), context.say);
    run.save_found(training);
    note(fmt::format("{} -> {}", name, run.directory().string()));
    if (run.load_checkpoint(training)) {
      note(fmt::format("going on after {:.1f} s of training", training.trainer().seconds()));
    } else {
      training.take_q();
    }
    const auto trained = train_to_the_end(run, training);
    if (!trained) {
      note(fmt::format("interrupted; saved. The same command with --out {} goes on", out.string()));
      return kInterrupted;
    }
    note(fmt::format("{}: accuracy {:.2f} % after {}", name, 100 * trained->evaluation.accuracy,
                     duration_text(trained->seconds)));
    summaries.add(trained->to_json());
  }
  if (flags.common.json) {
    nlohmann::ordered_json json{{"task", flags.task}, {"varied", variation.name}, {"values", variation.values}};
    json.update(summaries.to_json());
    print_json(json);
    return 0;
  }
  std::cout << fmt::format("{} runs, {} = {}; saved in {}\n", variation.values.size(), variation.name,
                           fmt::join(variation.values, ", "), out.string())
            << table_of(summaries);
  return 0;
}

}  // namespace

void add_repeat(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("repeat", "train several times; mean and standard deviation of all figures");
  auto flags = std::make_shared<RepeatFlags>();
  command->add_option("TASK", flags->task, "what to train; `anesi tasks` lists them")->required();
  auto* const runs = command->add_option("--runs", flags->runs, "how often, with consecutive seeds (default 3)")
                         ->check(whole_number(1, 10000));
  command->add_option("--vary", flags->vary, "NAME=FIRST..LAST: an option that takes these values, instead of the seed")
      ->excludes(runs);
  command->add_option("--preset", flags->preset, "named values of the options (default: the task's first)");
  command->add_option("--set", flags->settings, "an option's value, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seed", flags->seed, "the first seed, or that of all runs (default 0)")->check(seed_number());
  command->add_option("--out", flags->out, "directory of the runs (default: runs/TASK-repeat-1, -2, …)");
  flags->common.add_to(*command);
  command->footer(
      "Figures of the test split; a refined run also has those of perception before, as unrefined.*\n"
      "Called again with the same --out, it takes over what is finished and goes on with the rest.\n"
      "Examples:\n  anesi repeat mnist-add --runs 3 --set task.digits=15\n"
      "  anesi repeat visual-sudoku --vary task.split=1..10 --set task.size=9");
  command->callback([flags, &exit_code] { exit_code = repeat(*flags); });
}

}  // namespace anesi::cli

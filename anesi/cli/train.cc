// anesi train: trains a task into a run directory.
#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/page_process.h"
#include "anesi/cli/progress_display.h"
#include "anesi/cli/training.h"

namespace anesi::cli {
namespace {

constexpr const char* kUsual = "usual";

struct TrainFlags {
  CommonFlags common;
  std::string task, preset, out, resume;
  std::vector<std::string> settings;
  std::int64_t seed = -1;
  bool all_options = false;
  std::string serve;  // the port of the page, or kUsual; empty: there is none
};

std::unique_ptr<Configuration> configuration_of(const TrainFlags& flags) {
  auto configuration = std::make_unique<Configuration>(flags.task, flags.preset);
  for (const auto& setting : flags.settings) configuration->table().set(setting);
  if (flags.seed >= 0) configuration->table().set("seed", std::to_string(flags.seed));
  return configuration;
}

// Of the page; 0: the usual one.
std::int64_t port_of(const TrainFlags& flags) {
  if (flags.serve == kUsual) return 0;
  constexpr int kLargest = 65535;
  int port = 0;
  const auto* const end = flags.serve.data() + flags.serve.size();
  const auto [stop, failure] = std::from_chars(flags.serve.data(), end, port);
  if (failure != std::errc() || stop != end || port < 1 || port > kLargest) {
    throw UsageError(fmt::format("--serve={}: a port from 1 to {} is wanted", flags.serve, kLargest));
  }
  return port;
}

int train(const TrainFlags& flags) {
  outlast_readers();
  if (!flags.serve.empty()) port_of(flags);  // before anything is made
  const auto context = flags.common.context();
  const bool resuming = !flags.resume.empty();
  if (resuming && (!flags.task.empty() || !flags.settings.empty() || !flags.preset.empty() || flags.seed >= 0 ||
                   !flags.out.empty())) {
    throw UsageError("--resume goes on with a run as it was configured; leave out the task and other options");
  }
  if (!resuming && flags.task.empty()) throw UsageError("train needs a task; `anesi tasks` lists them");

  // A new run's directory is made only once everything it needs is there.
  std::optional<Run> run;
  if (resuming) run.emplace(Run::open(flags.resume));
  const auto configuration = resuming ? run->configuration() : configuration_of(flags);
  if (resuming) run->check_edits(*configuration, context.say);
  const auto task = configuration->make_task(context);
  Training training(*configuration, task, task.load(), resuming ? run->found() : std::nullopt, context.say);
  const auto& data = training.data();
  const bool goes_on = resuming && run->load_checkpoint(training);
  if (!goes_on) training.take_q();
  if (!resuming) {
    const auto out = flags.out.empty() ? fresh_run_directory(flags.task) : std::filesystem::path(flags.out);
    run.emplace(Run::create(out, *configuration));
  }
  if (!run->found()) run->save_found(training);  // nor has a run that was killed as it began
  const auto directory = run->directory().string();
  const auto& q = configuration->q;
  note(fmt::format("{}, preset {}, seed {} -> {}", configuration->task_name, configuration->preset, configuration->seed,
                   directory));
  const auto source = q.from.empty() ? "" : ", learned in " + q.from;
  note(fmt::format("{}: {} training, {} test examples; q is {}", data.origin, data.train->size(), data.test->size(),
                   training.found()                    ? training.found()->reason
                   : configuration->loss_entry().exact ? "exact inference"
                                                       : "a " + q.architecture + source));
  if (goes_on) note(fmt::format("going on after {:.1f} s of training", training.trainer().seconds()));
  std::optional<PageProcess> page;
  if (!flags.serve.empty()) page.emplace(directory, port_of(flags), flags.common.data);
  const auto trained = train_to_the_end(*run, training);
  const bool page_shown = page && page->runs();
  page.reset();
  if (!trained) {
    note(fmt::format("interrupted; saved. Go on with: anesi train --resume {}{}", directory,
                     flags.common.data.empty() ? "" : " --data " + flags.common.data));
    return kInterrupted;
  }
  if (page_shown) note("the page has ended with the training; see it again with: anesi serve " + directory);
  if (flags.common.json) {
    nlohmann::ordered_json json{{"task", configuration->task_name}, {"split", "test"}};
    json.update(trained->to_json());
    json["run"] = directory;
    json["epochs"] = configuration->train.epochs;
    print_json(json);
    return 0;
  }
  if (trained->unrefined) std::cout << "\nbefore refinement\n" << evaluation_table(*trained->unrefined, "test");
  std::cout << '\n' << evaluation_table(trained->evaluation, "test") << '\n';
  const auto predictor = training.predictor();
  const Answers answers(predictor, *task.presentation, configuration->task_name);
  std::int64_t index = 0;
  for (const auto& judged : answers.judge(*data.test, 0, std::min<std::int64_t>(3, data.test->size()))) {
    std::cout << describe_prediction(judged, *task.presentation, index++) << '\n';
  }
  std::cout << fmt::format("\ntrained in {}; saved in {}\n", duration_text(trained->seconds), directory);
  return 0;
}

// The options of the task that have any effect beside the preset and settings, or all (before a task is named, a hint),
// for
// --help.
std::string option_list(const TrainFlags& flags) {
  std::string text =
      "Examples:\n"
      "  anesi train mnist-add\n"
      "  anesi train mnist-add --set task.digits=15 --seed 1 --out runs/fifteen\n"
      "  anesi train mnist-add --preset paper --set train.epochs=3\n"
      "  anesi train --resume runs/fifteen\n";
  if (flags.task.empty()) return text + "`anesi train TASK --help` lists the options of a task.";
  const auto configuration = configuration_of(flags);
  std::size_t left_out = 0;
  text += fmt::format("\nOptions of {} for --set, with the values of preset {}{}:\n", flags.task, configuration->preset,
                      flags.all_options ? "" : "; those that apply to its architecture, prior and loss");
  for (const auto& row : configuration->table().rows()) {
    if (!flags.all_options && !configuration->applies(row.name)) {
      ++left_out;
      continue;
    }
    text +=
        fmt::format("  {:<22} {:<12} {} ({})\n", row.name, configuration->table().get(row.name), row.help, row.range);
  }
  if (left_out > 0) text += fmt::format("{} more have no effect here; --all-options lists them too.\n", left_out);
  return text;
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("train", "train a task into a run directory");
  auto flags = std::make_shared<TrainFlags>();
  command->add_option("TASK", flags->task, "what to train; `anesi tasks` lists them");
  command->add_option("--preset", flags->preset, "named values of the options (default: the task's first)");
  command->add_option("--set", flags->settings, "an option's value, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seed", flags->seed, "decides every random draw (default 0)")->check(seed_number());
  command->add_option("--out", flags->out, "the run directory (default: runs/TASK-1, -2, …)");
  command->add_option("--resume", flags->resume, "go on with the run in this directory");
  command->add_flag(fmt::format("--serve{{{}}}", kUsual), flags->serve,
                    "show how it goes on a page, as `anesi serve` does; --serve=PORT says where");
  command->add_flag("--all-options", flags->all_options, "with --help: list the options that have no effect here too");
  flags->common.add_to(*command);
  command->footer([flags] { return option_list(*flags); });
  command->callback([flags, &exit_code] { exit_code = train(*flags); });
}

}  // namespace anesi::cli

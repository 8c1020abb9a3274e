// anesi check: is a problem well posed, and how good is a run's q?
#include <fmt/format.h>

#include <iostream>

#include "anesi/check/formula_check.h"
#include "anesi/check/run_check.h"
#include "anesi/check/soft_check.h"
#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/progress_display.h"

namespace anesi::cli {
namespace {

struct CheckFlags {
  CommonFlags common;
  std::string target;
  std::vector<std::string> settings;
  CheckOptions options;
  std::string as = "constraint", write;
  double seconds = 60;
  std::int64_t count_samples = 4000, learn = 100;
};

CheckReport report_of_weighted_formula(const CheckFlags& flags) {
  if (flags.as != "constraint" || !flags.write.empty()) {
    throw UsageError("--as and --write are for formulas without weights (.cnf)");
  }
  return check_soft_formula_file(
      flags.target,
      {.seconds = flags.seconds, .samples = flags.count_samples, .steps = flags.learn, .seed = flags.options.seed});
}

void print_line(const Finding& line) {
  std::cout << fmt::format("{}  {:<24} {}\n", line.good ? "ok  " : "BAD ", line.name, line.words) << std::flush;
}

// Prints lines as soon as they are known: sampling and trying a problem may take much longer than counting.
CheckReport report_of_formula(const CheckFlags& flags) {
  FormulaCheckOptions options{.samples = flags.count_samples, .seed = flags.options.seed, .write_nnf = flags.write};
  if (!flags.common.json) options.tell = print_line;
  OptionTable table;
  table.add("as", options.formula.as, "");
  table.set("as=" + flags.as);
  options.formula.seconds = flags.seconds;
  return check_formula_file(flags.target, options);
}

// Sets `printed` if the report was printed on the way.
CheckReport report_of(const CheckFlags& flags, bool& printed) {
  const auto context = flags.common.context();
  if (names_task(flags.target, context)) {
    Configuration configuration(flags.target);
    for (const auto& setting : flags.settings) configuration.table().set(setting);
    ProgressDisplay display;
    return check_task(configuration, configuration.make_task(context), flags.options,
                      [&](const Progress& progress) { display.update(progress); });
  }
  const bool weighted = is_weighted_formula_file(flags.target);
  if (weighted || is_formula_file(flags.target)) {
    if (!flags.settings.empty()) throw UsageError("--set is for checking a task; of a formula say --as, --seconds");
    if (weighted) return report_of_weighted_formula(flags);
    printed = !flags.common.json;
    return report_of_formula(flags);
  }
  if (!std::filesystem::exists(flags.target)) {
    throw UsageError(fmt::format("{}: neither a task nor a run; `anesi tasks` lists the tasks", flags.target));
  }
  if (!flags.settings.empty()) throw UsageError("--set is for checking a task; a run has its options already");
  const auto run = open_run(flags.target, context);
  return check_run(run, *run.load_data().test, flags.options);
}

int check(const CheckFlags& flags) {
  bool printed = false;
  const auto report = report_of(flags, printed);
  if (flags.common.json) {
    print_json(report.to_json());
  } else if (!printed) {
    for (const auto& line : report.lines()) print_line(line);
  }
  return report.good() ? 0 : kFailed;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "check", "is a problem well posed, its pruner exact, its q near to exact and safe to learn through?");
  auto flags = std::make_shared<CheckFlags>();
  command->add_option("TARGET", flags->target, "a task, a run directory, or a formula (.cnf, .wcnf, .nnf, .sdd)")
      ->required();
  command->add_option("--set", flags->settings, "an option of the task, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--beliefs", flags->options.beliefs, "how many beliefs to look at (default 200)")
      ->check(whole_number(1, 1000000));
  command->add_option("--samples", flags->options.samples, "outputs or worlds sampled for each (default 100)")
      ->check(whole_number(2, 1000000));
  command->add_option("--seed", flags->options.seed, "decides every random draw (default 0)")->check(seed_number());
  command->add_option("--as", flags->as, "of a formula: what it is as a problem (default constraint)")
      ->check(CLI::IsMember({"constraint", "clauses", "definition"}));
  command->add_option("--seconds", flags->seconds, "of a formula: after which compiling it is given up (default 60)")
      ->check(real_number(0.0, 1e6));
  command->add_option("--learn", flags->learn, "of a weighted formula: updates while q learns it (default 100)")
      ->check(whole_number(0, 1'000'000));
  command->add_option("--write", flags->write,
                      "of a formula: write its circuit to this file, in the format of c2d (.nnf)");
  flags->common.add_to(*command);
  command->footer(
      "Of a task, q is learned from c alone as the default preset says; --set q.pretrain=0 leaves that out.\n"
      "Exits with 1 where something is wrong.\n"
      "Examples:\n  anesi check mnist-add --set task.digits=2\n  anesi check warcraft --set task.size=30\n  anesi "
      "check runs/four --json\n  anesi check rules.cnf --write rules.nnf\n  anesi check examples/friends.wcnf");
  command->callback([flags, &exit_code] { exit_code = check(*flags); });
}

}  // namespace anesi::cli

// What the subcommands share: common flags, exit codes, and how results are shown.
//
// A command writes its result to stdout, as text for people or, with --json, as one JSON object and nothing else.
// Everything that happens on the way goes to stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "anesi/answers/answers.h"
#include "anesi/core/error.h"
#include "anesi/predict/evaluation.h"
#include "anesi/run/load_run.h"

namespace anesi::cli {

inline constexpr int kFailed = 1, kMisuse = 2, kInterrupted = 130;

struct CommonFlags {
  bool json = false;
  std::string data;
  int threads = 0;

  void add_to(CLI::App& command);
  // Applies --threads; the context says where data are and that notes go to stderr.
  TaskContext context() const;
};

// A line on stderr. Whatever the text holds, it stays one line and leaves the terminal as it is.
void note(const std::string& line);
// The one object that --json promises, on stdout.
void print_json(const nlohmann::ordered_json& object);
// As JSON or as text.
void print(const CommonFlags& flags, const Answer& answer);

// Whether a command that takes a task or a run is to take this for a task. A task's name is one, whatever else is
// called so; where a run is, the context says how to name that.
bool names_task(const std::string& target, const TaskContext& context);

// A run by its directory, or a model's. Throws UsageError where there is no such directory.
LoadedRun open_run(const std::string& directory, const TaskContext& context);

// One input: an example of the data, or a file of the user's.
struct InputFlags {
  std::string split = "test", file;
  std::int64_t index = -1;

  void add_to(CLI::App& command);
  AskedInput read(const LoadedRun& run, const Answers& answers) const;
};

// One of "train", "validation", "test". Throws UsageError where it is empty.
const Examples& split_of(const Splits& splits, const std::string& name);

// A table of one evaluation, for people.
std::string evaluation_table(const Evaluation& evaluation, const std::string& split);

// What was read and predicted for one example of the data, on one line; what was read below it where the task draws
// worlds on several.
std::string describe_prediction(const Judged& judged, const Presentation& presentation, std::int64_t index);

// Each adds one subcommand; its callback runs it and sets `exit_code`.
void add_tasks(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_repeat(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_discover(CLI::App& app, int& exit_code);
void add_fit(CLI::App& app, int& exit_code);
void add_flow(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_data(CLI::App& app, int& exit_code);

}  // namespace anesi::cli

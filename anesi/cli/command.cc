#include "anesi/cli/command.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "anesi/cli/fetch_mnist.h"
#include "anesi/cli/numbers.h"
#include "anesi/core/printable.h"

namespace anesi::cli {

void CommonFlags::add_to(CLI::App& command) {
  command.add_flag("--json", json, "print one JSON object on stdout and nothing else there");
  command.add_option("--data", data, "directory with the data (default: ANESI_DATA, then the cache, then fetched)");
  command.add_option("--threads", threads, "threads to use (default: all cores)")->check(whole_number(1, 1024));
}

TaskContext CommonFlags::context() const {
  if (threads > 0) torch::set_num_threads(threads);
  TaskContext context;
  if (!data.empty()) context.data = data;
  context.mnist_sources = mnist_sources();
  context.say = note;
  return context;
}

void note(const std::string& line) { std::cerr << printable(line) << '\n'; }

void print_json(const nlohmann::ordered_json& object) {
  // A name of a file need not be UTF-8, which JSON is; and letters may be some that change a terminal.
  std::cout << object.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) << '\n';
}

void print(const CommonFlags& flags, const Answer& answer) {
  if (flags.json) return print_json(answer.json);
  std::cout << answer.text;
}

bool names_task(const std::string& target, const TaskContext& context) {
  if (!tasks().contains(target)) return false;
  std::error_code unknown;  // then there is none to speak of
  const std::filesystem::path folder(target);
  if (std::filesystem::exists(folder / "config.toml", unknown) ||
      std::filesystem::exists(folder / "manifest.json", unknown)) {
    context.say(fmt::format("note: the task {} is meant; the run of that name is ./{}", target, target));
  }
  return true;
}

LoadedRun open_run(const std::string& directory, const TaskContext& context) {
  if (!std::filesystem::exists(directory)) throw UsageError(fmt::format("{}: there is no such directory", directory));
  return load_run(directory, context);
}

void InputFlags::add_to(CLI::App& command) {
  command.add_option("--index", index, "an example of the data")->check(whole_number(0));
  command.add_option("--input", file, "a file with one input, as the task reads it (digits: an IDX file of images)");
  command.add_option("--split", split, "where the example is from: train, validation or test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
}

AskedInput InputFlags::read(const LoadedRun& run, const Answers& answers) const {
  if ((index >= 0) == !file.empty()) {
    throw UsageError("which input? Give either --index I (an example of the data) or --input FILE");
  }
  if (!file.empty()) return answers.input(run.presentation().read_input(file));
  const auto data = run.load_data();
  const auto& examples = split_of(data, split);
  if (index >= examples.size()) {
    throw UsageError(fmt::format("--index {}: the {} split has {} examples, 0 to {}", index, split, examples.size(),
                                 examples.size() - 1));
  }
  return answers.example(examples, index);
}

const Examples& split_of(const Splits& splits, const std::string& name) {
  const auto& split = name == "train" ? splits.train : name == "validation" ? splits.validation : splits.test;
  if (!split || split->size() == 0) {
    throw UsageError(fmt::format("the {} split is empty; this run was trained without one", name));
  }
  return *split;
}

std::string evaluation_table(const Evaluation& evaluation, const std::string& split) {
  const auto percent = [](double share) {
    return std::isnan(share) ? std::string("-") : fmt::format("{:.2f} %", 100 * share);
  };
  auto text = fmt::format("{:<20}{:>10}{:>10}{:>14}{:>9}{:>9}{:>11}\n", "", "symbolic", "neural", "per variable", "nll",
                          "ece", "ms/query");
  text += fmt::format("{:<20}{:>10}{:>10}{:>14}{:>9.4f}{:>9.4f}{:>11}\n",
                      fmt::format("{} ({} examples)", split, evaluation.examples), percent(evaluation.symbolic),
                      percent(evaluation.neural), percent(evaluation.per_variable), evaluation.nll, evaluation.ece,
                      evaluation.ms_per_query ? fmt::format("{:.2f}", *evaluation.ms_per_query) : "-");
  if (evaluation.decided) {
    text += fmt::format("decided by score and threshold: {} right\n", percent(*evaluation.decided));
  }
  const auto structured = [&](const char* name, const std::optional<Evaluation::Structured>& score) {
    if (!score) return;
    text += fmt::format("{:<36}{} exact match, {} of variables, {} satisfied\n", name, percent(score->exact_match),
                        percent(score->per_variable), percent(score->satisfied));
  };
  structured("most likely world:", evaluation.believed);
  structured("most probable under the constraint:", evaluation.constrained);
  if (evaluation.explanation) {
    text +=
        fmt::format("explanations: {} of world variables right; {} of {} sampled worlds give the predicted output\n",
                    percent(*evaluation.explanation), percent(*evaluation.satisfied), evaluation.sampled);
  }
  return text;
}

std::string describe_prediction(const Judged& judged, const Presentation& presentation, std::int64_t index) {
  // What does not fit on one line is drawn below it.
  const auto layout = presentation.layout(judged.read);
  const bool drawn = layout.find('\n') != std::string::npos;
  return fmt::format("{}{}: {}{}, label {}{}", judged.right ? (*judged.right ? "right " : "wrong ") : "", index,
                     drawn ? "" : fmt::format("read {}, ", presentation.world(judged.read)), judged.words, judged.label,
                     drawn ? "; read\n" + layout : "");
}

}  // namespace anesi::cli

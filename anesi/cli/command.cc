#include "anesi/cli/command.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "anesi/core/beliefs.h"
#include "anesi/models/beam.h"

namespace anesi::cli {

void CommonFlags::add_to(CLI::App& command) {
  command.add_flag("--json", json, "print one JSON object on stdout and nothing else there");
  command.add_option("--data", data, "directory with the data (default: ANESI_DATA, then the cache, then fetched)");
  command.add_option("--threads", threads, "threads to use (default: all cores)")->check(CLI::Range(1, 1024));
}

TaskContext CommonFlags::context() const {
  if (threads > 0) torch::set_num_threads(threads);
  TaskContext context;
  if (!data.empty()) context.data = data;
  context.say = [](const std::string& line) { std::cerr << line << '\n'; };
  return context;
}

SavedModel load_run(const std::string& directory, const TaskContext& context) {
  const std::filesystem::path path(directory);
  if (!std::filesystem::exists(path)) throw UsageError(fmt::format("{}: there is no such directory", directory));
  return load_model(std::filesystem::exists(path / "manifest.json") ? path : path / "model", context);
}

void InputFlags::add_to(CLI::App& command) {
  command.add_option("--index", index, "an example of the data")->check(CLI::NonNegativeNumber);
  command.add_option("--input", file, "a file with one input, as the task reads it (digits: an IDX file of images)");
  command.add_option("--split", split, "where the example is from: train, validation or test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
}

InputFlags::Given InputFlags::read(const SavedModel& saved) const {
  if ((index >= 0) == !file.empty()) {
    throw UsageError("which input? Give either --index I (an example of the data) or --input FILE");
  }
  if (!file.empty()) {
    if (!saved.task.read_input) throw UsageError("this task does not read inputs from files; use --index");
    return {saved.task.read_input(file), std::nullopt};
  }
  const auto data = saved.load_data();
  const auto& examples = split_of(data, split);
  if (index >= examples.size()) {
    throw UsageError(fmt::format("--index {}: the {} split has {} examples, 0 to {}", index, split, examples.size(),
                                 examples.size() - 1));
  }
  const auto batch = examples.batch(index, index + 1);
  return {batch.inputs, batch.observations};
}

const Dataset& split_of(const Splits& splits, const std::string& name) {
  const auto& split = name == "train" ? splits.train : name == "validation" ? splits.validation : splits.test;
  if (split.size() == 0) {
    throw UsageError(fmt::format("the {} split is empty; this run was trained without one", name));
  }
  return split;
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
  if (evaluation.explanation) {
    text +=
        fmt::format("explanations: {} of world variables right; {} of {} sampled worlds give the predicted output\n",
                    percent(*evaluation.explanation), percent(*evaluation.satisfied), evaluation.sampled);
  }
  return text;
}

std::vector<std::int64_t> row_values(const torch::Tensor& matrix, std::int64_t row) {
  const auto values = matrix[row].contiguous();
  const auto* const data = values.const_data_ptr<std::int64_t>();
  return {data, data + values.numel()};
}

std::string show_label(const Task& task, const Observations& label) {
  const bool holds = !label.holds.defined() || label.holds[0].item<bool>();
  return (holds ? "" : "not ") + task.show_output(row_values(label.outputs, 0));
}

std::string describe_prediction(const SavedModel& saved, const Dataset& data, std::int64_t index) {
  const auto batch = data.batch(index, index + 1);
  const auto beliefs = saved.beliefs(batch.inputs);
  const auto world = row_values(most_likely_worlds(beliefs), 0);
  if (!saved.model.prediction->has_rollouts()) {
    const auto share = saved.model.prediction->log_prob(beliefs, batch.observations.outputs).exp().item<double>();
    return fmt::format("{}: read {}, {} with {:.1f} %, label {}", index, saved.task.show_world(world),
                       saved.task.show_output(row_values(batch.observations.outputs, 0)), 100 * share,
                       show_label(saved.task, batch.observations));
  }
  const auto beam = beam_search(*saved.model.prediction, beliefs, saved.configuration->eval.beam, saved.pruning.get());
  const auto prediction = row_values(beam.values[0], 0);
  const bool right = batch.observations.agree(beam.values.select(1, 0)).item<bool>();
  return fmt::format("{} {}: read {}, predicted {} ({:.1f} %), label {}", right ? "right" : "wrong", index,
                     saved.task.show_world(world), saved.task.show_output(prediction),
                     100 * beam.log_prob[0][0].exp().item<double>(), show_label(saved.task, batch.observations));
}

}  // namespace anesi::cli

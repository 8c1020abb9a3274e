// anesi predict: the most likely outputs for one input.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/core/beliefs.h"
#include "anesi/models/beam.h"

namespace anesi::cli {
namespace {

struct PredictFlags {
  CommonFlags common;
  std::string run, split = "test", input;
  std::int64_t index = -1, top = 5;
};

void predict(const PredictFlags& flags) {
  if ((flags.index >= 0) == !flags.input.empty()) {
    throw UsageError("predict needs either --index I (an example of the data) or --input FILE");
  }
  const auto saved = load_run(flags.run, flags.common.context());
  torch::Tensor inputs, label;
  if (!flags.input.empty()) {
    if (!saved.task.read_input) throw UsageError("this task does not read inputs from files; use --index");
    inputs = saved.task.read_input(flags.input);
  } else {
    const auto data = saved.task.load();
    const auto& split = split_of(data, flags.split);
    if (flags.index >= split.size()) {
      throw UsageError(fmt::format("--index {}: the {} split has {} examples, 0 to {}", flags.index, flags.split,
                                   split.size(), split.size() - 1));
    }
    const auto batch = split.batch(flags.index, flags.index + 1);
    inputs = batch.inputs;
    label = batch.outputs;
  }
  const auto beliefs = saved.beliefs(inputs);
  const auto pruner = saved.task.problem->pruner();
  const auto beam =
      beam_search(*saved.model, beliefs, std::max(flags.top, saved.configuration->eval.beam), pruner.get());
  const auto world = row_values(most_likely_worlds(beliefs), 0);
  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", saved.task.show_world(world)},
                              {"world", world},
                              {"symbolic", saved.task.show_output(apply_checked(*saved.task.problem, world))}};
  auto text = fmt::format("read {}\n", saved.task.show_world(world));
  for (std::int64_t place = 0; place < std::min(flags.top, beam.values.size(1)); ++place) {
    const auto probability = beam.log_prob[0][place].exp().item<double>();
    if (probability == 0) break;  // no output is left
    const auto output = row_values(beam.values[0], place);
    json["outputs"].push_back(
        {{"text", saved.task.show_output(output)}, {"output", output}, {"probability", probability}});
    text += fmt::format("{:>8.4f} %  {}\n", 100 * probability, saved.task.show_output(output));
  }
  if (label.defined()) {
    json["label"] = saved.task.show_output(row_values(label, 0));
    text += fmt::format("label {}\n", saved.task.show_output(row_values(label, 0)));
  }
  std::cout << (flags.common.json ? json.dump() + "\n" : text);
}

}  // namespace

void add_predict(CLI::App& app, int&) {
  auto* command = app.add_subcommand("predict", "most likely outputs for one input, with probabilities");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  command->add_option("--index", flags->index, "an example of the data")->check(CLI::NonNegativeNumber);
  command->add_option("--input", flags->input, "a file with one input (mnist-add: an IDX file of its images)");
  command->add_option("--split", flags->split, "where the example is from: train, validation or test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--top", flags->top, "how many outputs to show")->check(CLI::Range(1, 10000));
  flags->common.add_to(*command);
  command->footer(
      "Examples:\n  anesi predict runs/four --index 7\n  anesi predict runs/four --input digits.idx --json");
  command->callback([flags] { predict(*flags); });
}

}  // namespace anesi::cli

// anesi predict: the most likely outputs for one input.
#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/core/beliefs.h"
#include "anesi/models/beam.h"

namespace anesi::cli {
namespace {

struct PredictFlags {
  CommonFlags common;
  InputFlags input;
  std::string run;
  std::int64_t top = 5;
};

void predict(const PredictFlags& flags) {
  const auto saved = load_run(flags.run, flags.common.context());
  const auto [inputs, label] = flags.input.read(saved);
  const auto beliefs = saved.beliefs(inputs);
  const auto beam = beam_search(*saved.model.prediction, beliefs, std::max(flags.top, saved.configuration->eval.beam),
                                saved.pruning.get());
  const auto world = row_values(most_likely_worlds(beliefs), 0);
  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", saved.task.show_world(world)},
                              {"world", world},
                              {"symbolic", saved.task.show_output(apply_checked(*saved.task.problem, world))}};
  auto text = fmt::format("read {}\n", saved.task.show_world(world));
  for (std::int64_t place = 0; place < std::min(flags.top, beam.values.size(1)); ++place) {
    const auto log_prob = beam.log_prob[0][place].item<double>();
    if (std::isinf(log_prob)) break;  // no output is left
    const auto probability = std::exp(log_prob);
    const auto output = row_values(beam.values[0], place);
    json["outputs"].push_back(
        {{"text", saved.task.show_output(output)}, {"output", output}, {"probability", probability}});
    text += fmt::format("{:>8.4f} %  {}\n", 100 * probability, saved.task.show_output(output));
  }
  if (saved.decision && !saved.task.question.empty()) {
    const auto outputs = torch::tensor(saved.task.question).unsqueeze(0);
    const auto& decision = *saved.decision;
    const auto share =
        decision.probability(decision.scores(*saved.task.problem, *saved.model.prediction, beliefs, outputs));
    json["decided"] = {{"text", saved.task.show_output(saved.task.question)}, {"probability", share.item<double>()}};
    text += fmt::format("decided by {}: {} with probability {:.2f} %\n", decision.by,
                        saved.task.show_output(saved.task.question), 100 * share.item<double>());
  }
  if (label) {
    json["label"] = show_label(saved.task, *label);
    text += fmt::format("label {}\n", show_label(saved.task, *label));
  }
  std::cout << (flags.common.json ? json.dump() + "\n" : text);
}

}  // namespace

void add_predict(CLI::App& app, int&) {
  auto* command = app.add_subcommand("predict", "most likely outputs for one input, with probabilities");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  flags->input.add_to(*command);
  command->add_option("--top", flags->top, "how many outputs to show")->check(CLI::Range(1, 10000));
  flags->common.add_to(*command);
  command->footer(
      "Examples:\n  anesi predict runs/four --index 7\n  anesi predict runs/four --input digits.idx --json");
  command->callback([flags] { predict(*flags); });
}

}  // namespace anesi::cli

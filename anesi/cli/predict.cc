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
  const auto& task = saved.task;
  const auto world = row_values(most_likely_worlds(beliefs), 0);
  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", task.show_world(world)},
                              {"world", world},
                              {"symbolic", task.show_output(apply_checked(*task.problem, world))}};
  auto text = task.lay_out_world ? fmt::format("read:\n{}\n", task.lay_out_world(world))
                                 : fmt::format("read {}\n", task.show_world(world));
  json["outputs"] = nlohmann::ordered_json::array();
  const auto show = [&](const std::vector<std::int64_t>& output, double log_prob) {
    const auto probability = std::exp(log_prob);
    json["outputs"].push_back({{"text", task.show_output(output)}, {"output", output}, {"probability", probability}});
    text += fmt::format("{:>8.4f} %  {}\n", 100 * probability, task.show_output(output));
  };
  if (saved.model.prediction->has_rollouts()) {
    const auto width = std::max(flags.top, saved.configuration->eval.beam);
    const auto beam = beam_search(*saved.model.prediction, beliefs, width, saved.pruning.get());
    for (std::int64_t place = 0; place < std::min(flags.top, beam.values.size(1)); ++place) {
      const auto log_prob = beam.log_prob[0][place].item<double>();
      if (std::isinf(log_prob)) break;  // no output is left
      show(row_values(beam.values[0], place), log_prob);
    }
  } else if (!task.question.empty()) {
    // Such a q can say how likely an output is, but not which is the likeliest.
    const auto outputs = torch::tensor(task.question).unsqueeze(0);
    show(task.question, saved.model.prediction->log_prob(beliefs, outputs).item<double>());
  }
  if (saved.decision && !task.question.empty()) {
    const auto outputs = torch::tensor(task.question).unsqueeze(0);
    const auto& decision = *saved.decision;
    const auto share = decision.probability(decision.scores(*task.problem, *saved.model.prediction, beliefs, outputs));
    json["decided"] = {{"text", task.show_output(task.question)}, {"probability", share.item<double>()}};
    text += fmt::format("decided by {}: {} with probability {:.2f} %\n", decision.by, task.show_output(task.question),
                        100 * share.item<double>());
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

// anesi predict: the most likely outputs for one input.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/core/rows.h"
#include "anesi/predict/asked_output.h"

namespace anesi::cli {
namespace {

struct PredictFlags {
  CommonFlags common;
  InputFlags input;
  std::string run;
  std::int64_t top = 5;
};

void predict(const PredictFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto input = flags.input.read(run);
  const auto& shown = run.presentation();
  const auto predicted = run.predictor.predict(run.predictor.beliefs(input.inputs), flags.top, input.given);
  const auto world = values_of(predicted.worlds[0]);
  nlohmann::ordered_json json{{"task", run.configuration->task_name},
                              {"read", shown.world(world)},
                              {"world", world},
                              {"symbolic", shown.output(values_of(predicted.symbolic[0]))}};
  auto text = fmt::format("read:\n{}\n", shown.layout(world));
  json["outputs"] = nlohmann::ordered_json::array();
  const auto show = [&](const std::vector<std::int64_t>& output, double probability) {
    json["outputs"].push_back({{"text", shown.output(output)}, {"output", output}, {"probability", probability}});
    text += fmt::format("{:>8.4f} %  {}\n", 100 * probability, shown.output(output));
  };
  for (std::int64_t place = 0; place < predicted.outputs.size(1); ++place) {
    const auto probability = predicted.probability[0][place].item<double>();
    if (place > 0 && probability == 0) break;  // no output is left
    show(values_of(predicted.outputs[0][place]), probability);
  }
  if (const auto* const asked = run.predictor.problem().facts().find<AskedOutput>()) {
    // A q that cannot choose can still say how likely this output is.
    if (!run.predictor.chooses()) show(asked->output, predicted.asked.item<double>());
    if (predicted.holds.defined()) {
      const auto share = predicted.holds.item<double>();
      json["decided"] = {{"text", shown.output(asked->output)}, {"probability", share}};
      text += fmt::format("decided by {}: {} with probability {:.2f} %\n", name_of(run.predictor.decision()->by),
                          shown.output(asked->output), 100 * share);
    }
  }
  if (input.label) {
    json["label"] = shown.label(*input.label);
    text += fmt::format("label {}\n", shown.label(*input.label));
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

// anesi predict: the most likely outputs for one input.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/core/asked_output.h"
#include "anesi/core/rows.h"
#include "anesi/core/seeded.h"
#include "anesi/discover/discover.h"
#include "anesi/exact/exact_model.h"

namespace anesi::cli {
namespace {

struct PredictFlags {
  CommonFlags common;
  InputFlags input;
  std::string run;
  std::int64_t top = 5, certify = 0;
};

// How far q can be from exact inference on this belief, in words and as JSON.
void add_certificate(const LoadedRun& run, const torch::Tensor& belief, std::int64_t draws,
                     nlohmann::ordered_json& json, std::string& text) {
  const auto& predictor = run.predictor;
  const bool by_tables = predictor.model().architecture == "tables";
  const bool certain = by_tables || predictor.model().architecture == kExactArchitecture;
  const WorldSource source{worlds_of_beliefs(belief), "this belief"};
  const auto certificate = certain ? certify_facts(predictor.problem(), source, draws, seeded(0)) : std::nullopt;
  json["certificate"] = nullptr;
  if (!certificate) {
    text += certain ? "exact: c itself is summed over\n" : "no certificate: q is a network that learned c\n";
    return;
  }
  json["certificate"] = {{"draws", certificate->draws},
                         {"differing", certificate->differing},
                         {"level", certificate->level},
                         {"bound", certificate->bound},
                         {"of", by_tables ? "each output" : "all outputs"}};
  text += fmt::format(
      "certificate: {} from exact by at most {:.2e} in total variation ({:.0f} %; c differed on {} of {} worlds "
      "drawn)\n",
      by_tables ? "each output by itself is" : "probabilities are", certificate->bound, 100 * certificate->level,
      certificate->differing, certificate->draws);
}

// Outputs with their probabilities, for people: those that read the same are one line, and what is next to impossible
// is counted.
class ShownOutputs {
 public:
  void add(const std::string& text, double probability) {
    const auto place = std::ranges::find(lines_, text, &Line::text);
    if (place == lines_.end()) {
      lines_.push_back({text, probability, 1});
    } else {
      place->probability += probability;
      ++place->outputs;
    }
  }

  std::string to_string() const {
    constexpr double kNothing = 5e-7;  // is shown as 0.0000 %
    std::string text;
    std::int64_t left_out = 0;
    for (const auto& line : lines_) {
      if (&line != lines_.data() && line.probability < kNothing) {
        left_out += line.outputs;
        continue;
      }
      text += fmt::format("{:>8.4f} %  {}{}\n", 100 * line.probability, line.text,
                          line.outputs > 1 ? fmt::format(", {} of them together", line.outputs) : "");
    }
    if (left_out > 0) text += fmt::format("{:>8} %  each of {} more\n", "<0.0001", left_out);
    return text;
  }

 private:
  struct Line {
    std::string text;
    double probability;
    std::int64_t outputs;
  };
  std::vector<Line> lines_;
};

void predict(const PredictFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto input = flags.input.read(run);
  const auto& shown = run.presentation();
  const auto beliefs = run.predictor.beliefs(input.inputs);
  const auto predicted = run.predictor.predict(beliefs, flags.top, input.given);
  const auto world = values_of(predicted.worlds[0]);
  nlohmann::ordered_json json{{"task", run.configuration->task_name},
                              {"read", shown.world(world)},
                              {"world", world},
                              {"symbolic", shown.output(values_of(predicted.symbolic[0]))}};
  auto text = fmt::format("read:\n{}\n", shown.layout(world));
  json["outputs"] = nlohmann::ordered_json::array();
  ShownOutputs outputs;
  const auto show = [&](const std::vector<std::int64_t>& output, double probability) {
    json["outputs"].push_back({{"text", shown.output(output)}, {"output", output}, {"probability", probability}});
    outputs.add(shown.output(output), probability);
  };
  for (std::int64_t place = 0; place < predicted.outputs.size(1); ++place) {
    const auto probability = predicted.probability[0][place].item<double>();
    if (place > 0 && probability == 0) break;  // no output is left
    show(values_of(predicted.outputs[0][place]), probability);
  }
  const auto* const asked = run.predictor.problem().facts().find<AskedOutput>();
  // A q that cannot choose can still say how likely this output is.
  if (asked != nullptr && !run.predictor.chooses()) show(asked->output, predicted.asked.item<double>());
  if (asked != nullptr && predicted.holds.defined()) {
    const auto share = predicted.holds.item<double>();
    const auto by = name_of(run.predictor.decision()->by);
    json["decided"] = {{"text", shown.output(asked->output)}, {"probability", share}};
    text += fmt::format("decided by {}: {} with probability {:.2f} %\nq by itself:\n", by, shown.output(asked->output),
                        100 * share);
  }
  text += outputs.to_string();
  if (asked != nullptr && predicted.constrained.defined()) {
    const auto constrained = values_of(predicted.constrained[0]);
    json["constrained"] = {{"text", shown.world(constrained)}, {"world", constrained}};
    text +=
        fmt::format("most probable world for \"{}\":\n{}\n", shown.output(asked->output), shown.layout(constrained));
  }
  if (flags.certify > 0) add_certificate(run, beliefs, flags.certify, json, text);
  if (input.label) {
    json["label"] = shown.label(*input.label);
    text += fmt::format("label {}\n", shown.label(*input.label));
  }
  if (flags.common.json) return print_json(json);
  std::cout << text;
}

}  // namespace

void add_predict(CLI::App& app, int&) {
  auto* command = app.add_subcommand("predict", "most likely outputs for one input, with probabilities");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  flags->input.add_to(*command);
  command->add_option("--top", flags->top, "how many outputs to show")->check(whole_number(1, 10000));
  command
      ->add_option("--certify", flags->certify, "ask c about so many worlds of this belief, and bound how far off q is")
      ->check(whole_number(1, 100000000));
  flags->common.add_to(*command);
  command->footer(
      "Examples:\n  anesi predict runs/four --index 7\n  anesi predict runs/four --input digits.idx --json\n  anesi "
      "predict runs/blind --index 7 --certify 10000");
  command->callback([flags] { predict(*flags); });
}

}  // namespace anesi::cli

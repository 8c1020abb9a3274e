// anesi eval: how good a trained run is.
#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/run/run.h"

namespace anesi::cli {
namespace {

struct EvalFlags {
  CommonFlags common;
  std::string run, split = "test";
  std::int64_t beam = 0, samples = 10;
};

void eval(const EvalFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto data = run.load_data();
  const auto evaluation = run.predictor.evaluate(
      split_of(data, flags.split), {.beam = flags.beam, .explanations = flags.samples, .time_queries = true});
  if (flags.common.json) {
    nlohmann::ordered_json json{{"task", run.configuration->task_name}, {"split", flags.split}};
    json.update(to_json(evaluation));
    json["data"] = data.origin;
    print_json(json);
  } else {
    std::cout << evaluation_table(evaluation, flags.split);
  }
}

}  // namespace

void add_eval(CLI::App& app, int&) {
  auto* command = app.add_subcommand("eval", "symbolic, neural and per-variable accuracy of a run; timings");
  auto flags = std::make_shared<EvalFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  command->add_option("--split", flags->split, "train, validation or test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--beam", flags->beam, "width of the beam (default: the run's eval.beam)")
      ->check(whole_number(1, 1000000));
  command->add_option("--samples", flags->samples, "explanations sampled for each example (default 10)")
      ->check(whole_number(0, 1000000));
  flags->common.add_to(*command);
  command->footer(
      "symbolic: c of the most likely world; neural: the most likely output of q; nll: of the label under q;\n"
      "ece: expected calibration error; ms/query: one example, from input to neural prediction;\n"
      "explanations: how much of the most probable world is right, and how often a sampled one gives the prediction.\n"
      "Examples:\n  anesi eval runs/four\n  anesi eval runs/four --split train --json");
  command->callback([flags] { eval(*flags); });
}

}  // namespace anesi::cli

// anesi predict: the most likely outputs for one input.
#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"

namespace anesi::cli {
namespace {

struct PredictFlags {
  CommonFlags common;
  InputFlags input;
  std::string run;
  std::int64_t top = 5, certify = 0;
};

void predict(const PredictFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto answers = run.answers();
  print(flags.common, answers.predict(flags.input.read(run, answers), flags.top, flags.certify));
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

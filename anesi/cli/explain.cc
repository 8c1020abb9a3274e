// anesi explain: the most likely worlds behind an output.
#include <fmt/format.h>

#include <optional>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/rollout_svg.h"
#include "anesi/io/files.h"

namespace anesi::cli {
namespace {

struct ExplainFlags {
  CommonFlags common;
  InputFlags input;
  std::string run, output, svg;
  std::optional<std::int64_t> top;
  bool joint = false;

  std::int64_t shown() const { return top.value_or(5); }
};

// The choices that led to the first world, or the input with what was read.
std::string drawing(const LoadedRun& run, const Answers& answers, const AskedInput& input,
                    const Explanation& explanation) {
  const auto& shown = run.presentation();
  if (explanation.by == ExplainedBy::kModel) {
    return rollout_svg(answers.record(input, explanation),
                       fmt::format("{} = {}, q {:.2f} %", shown.world(explanation.worlds[0].world),
                                   shown.output(explanation.output), 100 * explanation.probability));
  }
  const auto svg = shown.draw(answers.picture(input, explanation));
  if (!svg) throw UsageError("--svg: this task has no picture of such an explanation");
  return *svg;
}

// What the flags ask for that this run's way to explain does not have.
void check_flags(const ExplainFlags& flags, ExplainedBy by) {
  if (by == ExplainedBy::kModel) {
    if (flags.joint && (!flags.output.empty() || !flags.svg.empty())) {
      throw UsageError("--joint goes without --output and --svg");
    }
    return;
  }
  if (flags.joint) throw UsageError("--joint needs a run that explains; train one with --set q.variant=explain");
  if (by == ExplainedBy::kSearch && flags.top) {
    throw UsageError("--top needs a run that explains; q only predicts here, and a search finds one world");
  }
  if (by == ExplainedBy::kInfluence && !flags.output.empty()) {
    throw UsageError("--output needs a run that explains; the q of this one only predicts");
  }
}

void explain_one(const ExplainFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto answers = run.answers();
  const auto input = flags.input.read(run, answers);
  check_flags(flags, run.predictor.explains_by());
  if (flags.joint) return print(flags.common, answers.explain_jointly(input, flags.shown()));
  ExplainQuestion question{.top = flags.shown()};
  if (!flags.output.empty()) question.output = flags.output;
  const auto explanation = answers.explain(input, question);
  auto answer = answers.tell(input, explanation, flags.shown());
  if (!flags.svg.empty()) {
    write_file_atomically(flags.svg, drawing(run, answers, input, explanation));
    answer.json["svg"] = flags.svg;
    answer.text += fmt::format("drawn in {}\n", flags.svg);
  }
  print(flags.common, answer);
}

}  // namespace

void add_explain(CLI::App& app, int&) {
  auto* command = app.add_subcommand("explain", "most likely worlds behind an output, ranked, with probabilities");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  flags->input.add_to(*command);
  command->add_option("--output", flags->output,
                      "the output to explain (default: the predicted one, or what the task asks)");
  command->add_option("--top", flags->top, "how many worlds to show (default 5)")->check(whole_number(1, 10000));
  command->add_flag("--joint", flags->joint, "the most likely pairs of output and world, by one beam over both");
  command->add_option(
      "--svg", flags->svg,
      "draw the choices that led to the first of them, or the input with what was read, into this file");
  flags->common.add_to(*command);
  command->footer(
      "Probabilities are q(w|y,P). An output that no world gives is an error. Where q only predicts, the most "
      "probable\n"
      "world that gives the output is searched for (visual-sudoku: the most probable valid grid).\n"
      "Examples:\n  anesi explain runs/four --index 7\n  anesi explain runs/four --index 7 --output 135 --top 3\n"
      "  anesi explain runs/four --index 7 --svg rollout.svg");
  command->callback([flags] { explain_one(*flags); });
}

}  // namespace anesi::cli

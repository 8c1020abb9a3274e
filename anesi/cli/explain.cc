// anesi explain: the most likely worlds behind an output.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/rollout_svg.h"
#include "anesi/core/rows.h"
#include "anesi/io/files.h"
#include "anesi/models/grid_walk.h"

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

// A run, one input, and what the predictor said of it: what all ways to show an explanation work on.
struct Explained {
  const ExplainFlags& flags;
  const LoadedRun& run;
  InputFlags::Input input;
  Explanation explanation;

  const Presentation& shown() const { return run.presentation(); }
  std::string output() const { return shown().output(explanation.output); }
  double belief(std::int64_t variable, std::int64_t value) const {
    return explanation.beliefs[variable][value].item<double>();
  }
};

void print(const ExplainFlags& flags, const nlohmann::ordered_json& json, const std::string& text) {
  if (flags.common.json) return print_json(json);
  std::cout << text;
}

void add_label(const Explained& it, nlohmann::ordered_json& json, std::string& text) {
  if (!it.input.label) return;
  json["label"] = it.shown().label(*it.input.label);
  text += fmt::format("label {}\n", it.shown().label(*it.input.label));
}

void write_svg(const ExplainFlags& flags, const std::string& svg, nlohmann::ordered_json& json, std::string& text) {
  write_file_atomically(flags.svg, svg);
  json["svg"] = flags.svg;
  text += fmt::format("drawn in {}\n", flags.svg);
}

void write_picture(const Explained& it, const Picture& picture, nlohmann::ordered_json& json, std::string& text) {
  if (it.flags.svg.empty()) return;
  const auto svg = it.shown().draw(picture);
  if (!svg) throw UsageError("--svg: this task has no picture of such an explanation");
  write_svg(it.flags, *svg, json, text);
}

// The most likely pairs of an output and a world.
void show_jointly(const ExplainFlags& flags, const LoadedRun& run, const torch::Tensor& belief) {
  const auto& shown = run.presentation();
  auto rows = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& pair : run.predictor.explain_jointly(belief, flags.shown())) {
    rows.push_back({{"output", shown.output(pair.output)},
                    {"text", shown.world(pair.world)},
                    {"world", pair.world},
                    {"probability", pair.probability},
                    {"satisfied", pair.satisfied}});
    text += fmt::format("{:>9.4f} %  {} from {}{}\n", 100 * pair.probability, shown.output(pair.output),
                        shown.world(pair.world), pair.satisfied ? "" : "  (gives another output)");
  }
  print(flags, {{"task", run.configuration->task_name}, {"pairs", rows}}, text);
}

// The most probable worlds by q(w|y,P), and what was read otherwise in each.
void show_worlds(const Explained& it) {
  const auto& [flags, run, input, explanation] = it;
  const auto& shown = it.shown();
  nlohmann::ordered_json json{{"task", run.configuration->task_name},
                              {"read", shown.world(explanation.read)},
                              {"world", explanation.read},
                              {"output", it.output()},
                              {"probability", explanation.probability}};
  json["explanations"] = nlohmann::ordered_json::array();
  auto text = fmt::format("read {}, which gives {}\n{} {} (q {:.4f} %)\n", shown.world(explanation.read),
                          shown.output(explanation.read_output), flags.output.empty() ? "predicted" : "explaining",
                          it.output(), 100 * explanation.probability);
  constexpr std::size_t kLongest = 200;  // letters of changes that are told of one world
  for (const auto& world : explanation.worlds) {
    json["explanations"].push_back({{"text", shown.world(world.world)},
                                    {"world", world.world},
                                    {"probability", world.probability},
                                    {"belief", world.belief},
                                    {"satisfied", world.satisfied},
                                    {"changed", world.changed}});
    std::string changes;
    std::size_t told = 0;
    for (; told < world.changed.size() && changes.size() < kLongest; ++told) {
      const auto variable = world.changed[told];
      const auto now = world.world[static_cast<std::size_t>(variable)],
                 before = explanation.read[static_cast<std::size_t>(variable)];
      changes += fmt::format("{}{}: {} ({:.2f} %) read as {} ({:.2f} %)", told == 0 ? "" : "; ",
                             shown.variable(variable), shown.value(variable, now), 100 * it.belief(variable, now),
                             shown.value(variable, before), 100 * it.belief(variable, before));
    }
    if (told < world.changed.size()) changes += fmt::format("; and {} more", world.changed.size() - told);
    text +=
        fmt::format("{:>9.4f} %  {}{}{}\n", 100 * world.probability, shown.world(world.world),
                    world.satisfied ? "" : "  (gives another output)", changes.empty() ? "  as read" : "  " + changes);
  }
  if (explanation.worlds.empty()) throw Error(fmt::format("no world found that gives this output: {}", it.output()));
  add_label(it, json, text);
  if (!flags.svg.empty()) {
    const auto& best = explanation.worlds[0].world;
    const auto steps = run.predictor.record(explanation.beliefs.unsqueeze(0), explanation.output, best);
    write_svg(flags,
              rollout_svg(steps, fmt::format("{} = {}, q {:.2f} %", shown.world(best), it.output(),
                                             100 * explanation.probability)),
              json, text);
  }
  print(flags, json, text);
}

// The most probable world that gives the output, by search: what it changes, and which outputs what was read violates.
void show_search(const Explained& it) {
  const auto& [flags, run, input, explanation] = it;
  const auto& shown = it.shown();
  const auto& limits = run.predictor.options().limits;
  nlohmann::ordered_json json{{"task", run.configuration->task_name},
                              {"read", shown.world(explanation.read)},
                              {"world", explanation.read},
                              {"output", it.output()},
                              {"proven", explanation.proven},
                              {"nats", limits.nats}};
  for (const auto& belief : explanation.beliefs.to(torch::kFloat64).contiguous().unbind(0)) {
    const auto* const values = belief.const_data_ptr<double>();
    json["beliefs"].push_back(std::vector<double>(values, values + belief.numel()));
  }
  auto text = fmt::format("read, {}:\n{}\n", shown.output(explanation.read_output), shown.layout(explanation.read));
  if (explanation.holds) {
    json["probability"] = *explanation.holds;
    text += fmt::format("{} with probability {:.2f} %\n", it.output(), 100 * *explanation.holds);
  }
  json["violated"] = nlohmann::ordered_json::array();
  constexpr std::size_t kMostShown = 20;
  for (std::size_t variable = 0; variable < explanation.output.size(); ++variable) {
    if (explanation.output[variable] == explanation.read_output[variable]) continue;
    const auto name = shown.output_variable(static_cast<std::int64_t>(variable));
    json["violated"].push_back(name);
    if (json["violated"].size() <= kMostShown) text += fmt::format("violated: {}\n", name);
  }
  if (json["violated"].size() > kMostShown) text += fmt::format("and {} more\n", json["violated"].size() - kMostShown);
  Picture picture{.inputs = input.inputs, .read = explanation.read, .predicted = explanation.output};
  if (explanation.worlds.empty()) {
    text += fmt::format("no world within {:.0f} nats of the one read is {}{}\n", limits.nats, it.output(),
                        explanation.proven ? "" : ", as far as was searched");
  } else {
    const auto& best = explanation.worlds[0];
    picture.explained = best.world;
    json["gap"] = explanation.gap;
    json["explanation"] = best.world;
    json["changed"] = nlohmann::ordered_json::array();
    text += fmt::format("most probable world that is {}, {:.2f} nats below the one read{}:\n{}\n", it.output(),
                        explanation.gap, explanation.proven ? "" : " (the search gave up; there may be a better one)",
                        shown.layout(best.world));
    for (const auto variable : best.changed) {
      const auto now = best.world[static_cast<std::size_t>(variable)],
                 before = explanation.read[static_cast<std::size_t>(variable)];
      json["changed"].push_back({{"name", shown.variable(variable)},
                                 {"value", now},
                                 {"probability", it.belief(variable, now)},
                                 {"read", before},
                                 {"read_probability", it.belief(variable, before)}});
      text +=
          fmt::format("{}: {} ({:.2f} %) read as {} ({:.2f} %)\n", shown.variable(variable), shown.value(variable, now),
                      100 * it.belief(variable, now), shown.value(variable, before), 100 * it.belief(variable, before));
    }
  }
  add_label(it, json, text);
  write_picture(it, picture, json, text);
  print(flags, json, text);
}

// What was read, what is predicted, and which variables matter most to that.
void show_influence(const Explained& it) {
  const auto& [flags, run, input, explanation] = it;
  const auto& shown = it.shown();
  nlohmann::ordered_json json{{"task", run.configuration->task_name},
                              {"read", shown.world(explanation.read)},
                              {"world", explanation.read},
                              {"output", it.output()},
                              {"probability", explanation.probability},
                              {"of_world_read", shown.output(explanation.read_output)}};
  auto text = fmt::format("read:\n{}\npredicted: {} (q {:.2f} %)\n", shown.layout(explanation.read), it.output(),
                          100 * explanation.probability);
  text += explanation.read_output == explanation.output
              ? "which is the output of the world read\n"
              : fmt::format("the output of the world read is another: {}\n", shown.output(explanation.read_output));
  Picture picture{.inputs = input.inputs,
                  .read = explanation.read,
                  .predicted = explanation.output,
                  .influence = explanation.influence};
  if (input.label) {
    picture.label = values_of(input.label->outputs[0]);
    json["label"] = shown.label(*input.label);
    text += fmt::format("label: {}{}\n", shown.label(*input.label),
                        picture.label == explanation.output ? ", as predicted" : "");
  }
  std::vector<std::int64_t> order(explanation.influence.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto weight = [&influence = explanation.influence](std::int64_t variable) {
    return influence[static_cast<std::size_t>(variable)];
  };
  std::ranges::stable_sort(order, std::ranges::greater(), weight);
  order.resize(std::min(order.size(), static_cast<std::size_t>(flags.shown())));
  json["matters"] = nlohmann::ordered_json::array();
  for (const auto variable : order) {
    const auto read = explanation.read[static_cast<std::size_t>(variable)];
    json["matters"].push_back({{"name", shown.variable(variable)},
                               {"weight", weight(variable)},
                               {"read", shown.value(variable, read)},
                               {"probability", it.belief(variable, read)}});
    text += fmt::format("{} matters {:.3f}: read as {} ({:.2f} %)\n", shown.variable(variable), weight(variable),
                        shown.value(variable, read), 100 * it.belief(variable, read));
  }
  write_picture(it, picture, json, text);
  print(flags, json, text);
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

// Why an output that somebody wrote is none of the problem's, or "". Outputs that end early are those of walks alone.
std::string complaint_about(const std::vector<std::int64_t>& output, const Problem& problem) {
  const auto& outputs = problem.outputs();
  const auto end = std::ranges::find(output, kNone) - output.begin();
  if (auto complaint = outputs.complaint(output); !complaint.empty() || end == std::ssize(output)) return complaint;
  if (problem.facts().find<GridWalk>() != nullptr) return "";
  return fmt::format("variable {} is {}; its values are 0 to {}", end, kNone, outputs.domain(end) - 1);
}

void explain_one(const ExplainFlags& flags) {
  const auto run = open_run(flags.run, flags.common.context());
  const auto input = flags.input.read(run);
  const auto belief = run.predictor.beliefs(input.inputs);
  check_flags(flags, run.predictor.explains_by());
  if (flags.joint) return show_jointly(flags, run, belief);
  ExplainRequest request{.top = flags.shown(), .given = input.given};
  if (!flags.output.empty()) {
    request.output = run.presentation().read_output(flags.output);
    if (const auto complaint = complaint_about(request.output, run.predictor.problem()); !complaint.empty()) {
      throw UsageError(fmt::format("--output {}: {}", flags.output, complaint));
    }
    if (!run.predictor.possible(request.output)) {
      throw Error(fmt::format("no world gives this output: {}", run.presentation().output(request.output)));
    }
  }
  const Explained it{flags, run, input, run.predictor.explain(belief, request)};
  switch (it.explanation.by) {
    case ExplainedBy::kModel:
      return show_worlds(it);
    case ExplainedBy::kSearch:
      return show_search(it);
    case ExplainedBy::kInfluence:
      return show_influence(it);
  }
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

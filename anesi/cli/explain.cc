// anesi explain: the most likely worlds behind an output.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <optional>

#include "anesi/cli/command.h"
#include "anesi/cli/rollout_svg.h"
#include "anesi/core/beliefs.h"
#include "anesi/io/files.h"
#include "anesi/models/beam.h"
#include "anesi/search/consistent_worlds.h"

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

// Throws Error where the problem's pruner knows that no world gives the output.
void check_possible(const SavedModel& saved, const std::vector<std::int64_t>& output) {
  const auto pruner = saved.task.problem->pruner();
  if (!pruner) return;
  const auto& worlds = saved.task.problem->worlds();
  const std::vector<std::int64_t> nothing(static_cast<std::size_t>(worlds.variables()), kUnset);
  const auto domain = static_cast<std::size_t>(worlds.domain(0));
  const auto mask = std::make_unique<bool[]>(domain);
  pruner->allow_worlds(output, nothing, 0, Mask(mask.get(), domain));
  if (std::none_of(mask.get(), mask.get() + domain, [](bool allowed) { return allowed; })) {
    throw Error(fmt::format("no world gives this output: {}", saved.task.show_output(output)));
  }
}

// The most likely pairs of an output and a world.
void explain_jointly(const ExplainFlags& flags, const SavedModel& saved, const torch::Tensor& beliefs) {
  const auto beam = joint_beam_search(saved.model, beliefs, std::max(flags.shown(), saved.configuration->eval.beam),
                                      saved.pruning.get());
  auto rows = nlohmann::ordered_json::array();
  std::string text;
  for (std::int64_t place = 0; place < std::min(flags.shown(), beam.outputs.size(1)); ++place) {
    const auto log_prob = beam.log_prob[0][place].item<double>();
    if (std::isinf(log_prob)) break;
    const auto probability = std::exp(log_prob);
    const auto output = row_values(beam.outputs[0], place), world = row_values(beam.worlds[0], place);
    const bool satisfied = apply_checked(*saved.task.problem, world) == output;
    rows.push_back({{"output", saved.task.show_output(output)},
                    {"text", saved.task.show_world(world)},
                    {"world", world},
                    {"probability", probability},
                    {"satisfied", satisfied}});
    text += fmt::format("{:>9.4f} %  {} from {}{}\n", 100 * probability, saved.task.show_output(output),
                        saved.task.show_world(world), satisfied ? "" : "  (gives another output)");
  }
  std::cout << (flags.common.json
                    ? nlohmann::ordered_json{{"task", saved.configuration->task_name}, {"pairs", rows}}.dump() + "\n"
                    : text);
}

// Where q does not explain: the most probable world that gives the output, by search.
void explain_by_search(const ExplainFlags& flags, const SavedModel& saved, const InputFlags::Given& given,
                       const torch::Tensor& beliefs) {
  const auto& task = saved.task;
  if (flags.joint) throw UsageError("--joint needs a run that explains; train one with --set q.variant=explain");
  if (flags.top)
    throw UsageError("--top needs a run that explains; q only predicts here, and a search finds one world");
  const auto read = row_values(most_likely_worlds(beliefs), 0);
  const auto read_output = apply_checked(*task.problem, read);
  auto& prediction = *saved.model.prediction;
  auto output = read_output;
  if (!flags.output.empty()) {
    output = task.read_output(flags.output);
  } else if (!task.question.empty()) {
    output = task.question;
  } else if (prediction.has_rollouts()) {
    output =
        row_values(beam_search(prediction, beliefs, saved.configuration->eval.beam, saved.pruning.get()).values[0], 0);
  }
  if (const auto complaint = task.problem->outputs().complaint(output); !complaint.empty()) {
    throw UsageError(fmt::format("--output {}: {}", flags.output, complaint));
  }
  if (!flags.output.empty()) check_possible(saved, output);
  const auto outputs = torch::tensor(output).unsqueeze(0);
  const auto& limits = saved.configuration->eval.limits;
  const auto found = most_probable_worlds(*task.problem, beliefs, outputs, limits);
  const auto gap = found.gap.item<double>();
  const bool exists = !std::isinf(gap), proven = found.proven.item<bool>();

  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", task.show_world(read)},
                              {"world", read},
                              {"output", task.show_output(output)},
                              {"proven", proven},
                              {"nats", limits.nats}};
  for (std::int64_t variable = 0; variable < beliefs.size(1); ++variable) {
    const auto belief = beliefs[0][variable].to(torch::kFloat64).contiguous();
    json["beliefs"].push_back(
        std::vector<double>(belief.const_data_ptr<double>(), belief.const_data_ptr<double>() + belief.numel()));
  }
  auto text = fmt::format("read, {}:\n{}\n", task.show_output(read_output), task.lay_out_world(read));
  if (saved.decision) {
    const auto& decision = *saved.decision;
    const auto share =
        decision.probability(decision.scores(*task.problem, prediction, beliefs, outputs)).item<double>();
    json["probability"] = share;
    text += fmt::format("{} with probability {:.2f} %\n", task.show_output(output), 100 * share);
  }
  json["violated"] = nlohmann::ordered_json::array();
  for (std::size_t variable = 0; variable < output.size(); ++variable) {
    if (output[variable] == read_output[variable]) continue;
    const auto name = task.name_output(static_cast<std::int64_t>(variable));
    json["violated"].push_back(name);
    if (json["violated"].size() <= 20) text += fmt::format("violated: {}\n", name);
  }
  if (json["violated"].size() > 20) text += fmt::format("and {} more\n", json["violated"].size() - 20);
  std::vector<std::int64_t> best;
  if (exists) {
    best = row_values(found.worlds, 0);
    json["gap"] = gap;
    json["explanation"] = best;
    json["changed"] = nlohmann::ordered_json::array();
    text +=
        fmt::format("most probable world that is {}, {:.2f} nats below the one read{}:\n{}\n", task.show_output(output),
                    gap, proven ? "" : " (the search gave up; there may be a better one)", task.lay_out_world(best));
    for (std::size_t variable = 0; variable < best.size(); ++variable) {
      if (best[variable] == read[variable]) continue;
      const auto index = static_cast<std::int64_t>(variable);
      const auto sure = beliefs[0][index];
      const auto now = sure[best[variable]].item<double>(), before = sure[read[variable]].item<double>();
      const auto name = task.name_variable(index);
      json["changed"].push_back({{"name", name},
                                 {"value", best[variable]},
                                 {"probability", now},
                                 {"read", read[variable]},
                                 {"read_probability", before}});
      text += fmt::format("{}: {} ({:.2f} %) read as {} ({:.2f} %)\n", name, best[variable], 100 * now, read[variable],
                          100 * before);
    }
  } else {
    text += fmt::format("no world within {:.0f} nats of the one read is {}{}\n", limits.nats, task.show_output(output),
                        proven ? "" : ", as far as was searched");
  }
  if (given.label) {
    json["label"] = show_label(task, *given.label);
    text += fmt::format("label {}\n", show_label(task, *given.label));
  }
  if (!flags.svg.empty()) {
    if (!task.draw) throw UsageError("--svg: this task has no picture of an explanation by search");
    write_file_atomically(flags.svg, task.draw(given.inputs, read, best));
    json["svg"] = flags.svg;
    text += fmt::format("drawn in {}\n", flags.svg);
  }
  std::cout << (flags.common.json ? json.dump() + "\n" : text);
}

// Where q only predicts and worlds are too many to search: what was read, what is predicted, and which variables matter
// most to that. A variable matters as much as log q of the prediction changes when probability moves to one of its
// values.
void explain_prediction(const ExplainFlags& flags, const SavedModel& saved, const InputFlags::Given& given,
                        const torch::Tensor& beliefs) {
  const auto& task = saved.task;
  if (flags.joint || !flags.output.empty()) {
    throw UsageError("--joint and --output need a run that explains; the q of this one only predicts");
  }
  const auto read = row_values(most_likely_worlds(beliefs), 0);
  const auto beam = beam_search(*saved.model.prediction, beliefs, saved.configuration->eval.beam, saved.pruning.get());
  const auto predicted = row_values(beam.values[0], 0);
  const auto share = std::exp(beam.log_prob[0][0].item<double>());
  const auto matters = [&] {
    const torch::AutoGradMode gradients(true);
    const auto given_beliefs = beliefs.detach().clone().requires_grad_();
    const auto log_prob = saved.model.prediction->log_prob(given_beliefs, torch::tensor(predicted).unsqueeze(0)).sum();
    const auto slope = torch::autograd::grad({log_prob}, {given_beliefs})[0];
    const auto mean = (slope * beliefs).sum(2, /*keepdim=*/true);
    return (slope - mean).abs().amax(2)[0].to(torch::kFloat64).contiguous();
  }();
  const auto by_solver = apply_checked(*task.problem, read);
  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", task.show_world(read)},
                              {"world", read},
                              {"output", task.show_output(predicted)},
                              {"probability", share},
                              {"of_world_read", task.show_output(by_solver)}};
  auto text = fmt::format("read:\n{}\npredicted: {} (q {:.2f} %)\n", task.lay_out_world(read),
                          task.show_output(predicted), 100 * share);
  text += by_solver == predicted
              ? "which is the output of the world read\n"
              : fmt::format("the output of the world read is another: {}\n", task.show_output(by_solver));
  std::vector<std::int64_t> label;
  if (given.label) {
    label = row_values(given.label->outputs, 0);
    json["label"] = task.show_output(label);
    text += fmt::format("label: {}{}\n", task.show_output(label), label == predicted ? ", as predicted" : "");
  }
  const auto order = matters.argsort(0, /*descending=*/true);
  json["matters"] = nlohmann::ordered_json::array();
  for (std::int64_t place = 0; place < std::min(flags.shown(), matters.size(0)); ++place) {
    const auto variable = order[place].item<std::int64_t>();
    const auto value = read[static_cast<std::size_t>(variable)];
    const auto name = task.name_value ? task.name_value(value) : std::to_string(value);
    json["matters"].push_back({{"name", task.name_variable(variable)},
                               {"weight", matters[variable].item<double>()},
                               {"read", name},
                               {"probability", beliefs[0][variable][value].item<double>()}});
    text += fmt::format("{} matters {:.3f}: read as {} ({:.2f} %)\n", task.name_variable(variable),
                        matters[variable].item<double>(), name, 100 * beliefs[0][variable][value].item<double>());
  }
  if (!flags.svg.empty()) {
    const auto* const weights = matters.const_data_ptr<double>();
    write_file_atomically(
        flags.svg, task.draw_prediction({given.inputs, read, predicted, label, {weights, weights + matters.numel()}}));
    json["svg"] = flags.svg;
    text += fmt::format("drawn in {}\n", flags.svg);
  }
  std::cout << (flags.common.json ? json.dump() + "\n" : text);
}

void explain_one(const ExplainFlags& flags) {
  const auto saved = load_run(flags.run, flags.common.context());
  const auto& task = saved.task;
  const auto given = flags.input.read(saved);
  const auto beliefs = saved.beliefs(given.inputs);
  if (!saved.model.explanation && task.draw_prediction) return explain_prediction(flags, saved, given, beliefs);
  if (!saved.model.explanation || !saved.model.prediction->has_rollouts()) {
    return explain_by_search(flags, saved, given, beliefs);
  }
  if (flags.joint) {
    if (!flags.output.empty() || !flags.svg.empty()) throw UsageError("--joint goes without --output and --svg");
    return explain_jointly(flags, saved, beliefs);
  }
  const auto beam_width = std::max(flags.shown(), saved.configuration->eval.beam);
  std::vector<std::int64_t> output;
  if (flags.output.empty()) {
    output = row_values(beam_search(*saved.model.prediction, beliefs, beam_width, saved.pruning.get()).values[0], 0);
  } else {
    output = task.read_output(flags.output);
    if (const auto complaint = task.problem->outputs().complaint(output); !complaint.empty()) {
      throw UsageError(fmt::format("--output {}: {}", flags.output, complaint));
    }
    check_possible(saved, output);
  }
  const auto outputs = torch::tensor(output).unsqueeze(0);
  const auto share = saved.model.prediction->log_prob(beliefs, outputs).exp().item<double>();
  const auto beam = explain(*saved.model.explanation, {beliefs, outputs}, beam_width, saved.pruning.get());
  const auto read = row_values(most_likely_worlds(beliefs), 0);

  nlohmann::ordered_json json{{"task", saved.configuration->task_name},
                              {"read", task.show_world(read)},
                              {"world", read},
                              {"output", task.show_output(output)},
                              {"probability", share}};
  json["explanations"] = nlohmann::ordered_json::array();
  auto text = fmt::format("read {}, which gives {}\n{} {} (q {:.4f} %)\n", task.show_world(read),
                          task.show_output(apply_checked(*task.problem, read)),
                          flags.output.empty() ? "predicted" : "explaining", task.show_output(output), 100 * share);
  std::vector<std::int64_t> best;
  for (std::int64_t place = 0; place < std::min(flags.shown(), beam.values.size(1)); ++place) {
    const auto log_prob = beam.log_prob[0][place].item<double>();
    if (std::isinf(log_prob)) break;
    const auto probability = std::exp(log_prob);
    const auto world = row_values(beam.values[0], place);
    const bool satisfied = apply_checked(*task.problem, world) == output;
    if (best.empty()) best = world;
    const auto row = torch::tensor(world).unsqueeze(0);
    nlohmann::ordered_json item{
        {"text", task.show_world(world)}, {"world", world},
        {"probability", probability},     {"belief", world_log_prob(beliefs, row).exp().item<double>()},
        {"satisfied", satisfied},         {"changed", nlohmann::ordered_json::array()}};
    std::string changes;
    std::int64_t more = 0;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      if (world[variable] == read[variable]) continue;
      item["changed"].push_back(variable);
      const auto sure = beliefs[0][static_cast<std::int64_t>(variable)];
      if (changes.size() >= 200) {
        ++more;
      } else {
        changes += fmt::format("{}variable {}: {} ({:.2f} %) read as {} ({:.2f} %)", changes.empty() ? "" : "; ",
                               variable + 1, world[variable], 100 * sure[world[variable]].item<double>(),
                               read[variable], 100 * sure[read[variable]].item<double>());
      }
    }
    if (more > 0) changes += fmt::format("; and {} more", more);
    json["explanations"].push_back(item);
    text += fmt::format("{:>9.4f} %  {}{}{}\n", 100 * probability, task.show_world(world),
                        satisfied ? "" : "  (gives another output)", changes.empty() ? "  as read" : "  " + changes);
  }
  if (best.empty()) throw Error(fmt::format("no world found that gives this output: {}", task.show_output(output)));
  if (given.label) {
    json["label"] = show_label(task, *given.label);
    text += fmt::format("label {}\n", show_label(task, *given.label));
  }
  if (!flags.svg.empty()) {
    const auto steps = trace(saved.model, beliefs, output, best, saved.pruning.get());
    write_file_atomically(flags.svg, rollout_svg(steps, fmt::format("{} = {}, q {:.2f} %", task.show_world(best),
                                                                    task.show_output(output), 100 * share)));
    json["svg"] = flags.svg;
    text += fmt::format("drawn in {}\n", flags.svg);
  }
  std::cout << (flags.common.json ? json.dump() + "\n" : text);
}

}  // namespace

void add_explain(CLI::App& app, int&) {
  auto* command = app.add_subcommand("explain", "most likely worlds behind an output, ranked, with probabilities");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("RUN", flags->run, "a run directory")->required();
  flags->input.add_to(*command);
  command->add_option("--output", flags->output,
                      "the output to explain (default: the predicted one, or what the task asks)");
  command->add_option("--top", flags->top, "how many worlds to show (default 5)")->check(CLI::Range(1, 10000));
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

// Why, in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "anesi/answers/answers.h"
#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

double belief_in(const Explanation& explanation, std::int64_t variable, std::int64_t value) {
  return explanation.beliefs[variable][value].item<double>();
}

// Why an output that somebody wrote is none of the problem's, or "". Outputs that end early are those of walks alone.
std::string complaint_about(const std::vector<std::int64_t>& output, const Problem& problem) {
  const auto& outputs = problem.outputs();
  const auto end = std::ranges::find(output, kNone) - output.begin();
  if (auto complaint = outputs.complaint(output); !complaint.empty() || end == std::ssize(output)) return complaint;
  if (problem.facts().find<GridWalk>() != nullptr) return "";
  return fmt::format("variable {} is {}; its values are 0 to {}", end, kNone, outputs.domain(end) - 1);
}

// An output that is shown as this text, where there are few enough to try all.
std::optional<std::vector<std::int64_t>> output_shown_as(const std::string& text, const Problem& problem,
                                                         const Presentation& shown) {
  constexpr double kMost = 10000;
  const auto* const asked = problem.facts().find<AskedOutput>();
  if (asked != nullptr && shown.output(asked->output) == text) return asked->output;
  std::optional<std::vector<std::int64_t>> found;
  if (text.empty() || problem.outputs().points() > kMost) return found;
  problem.outputs().for_each_point([&](Values point) {
    if (!found && shown.output(point) == text) found.emplace(point.begin(), point.end());
  });
  return found;
}

}  // namespace

std::vector<std::int64_t> Answers::asked_output(const AskedFor& asked) const {
  std::vector<std::int64_t> output;
  std::string name = "output";
  if (const auto* const text = std::get_if<std::string>(&asked)) {
    constexpr std::size_t kLongest = 1000;
    if (text->size() > kLongest) throw UsageError("output: that is too long for one");
    if (!text->empty()) name += " " + *text;
    auto shown = output_shown_as(*text, predictor_.problem(), shown_);
    output = shown ? *std::move(shown) : shown_.read_output(*text);
  } else {
    output = std::get<std::vector<std::int64_t>>(asked);
  }
  if (const auto complaint = complaint_about(output, predictor_.problem()); !complaint.empty()) {
    throw UsageError(fmt::format("{}: {}", name, complaint));
  }
  if (!predictor_.possible(output)) {
    throw Error(fmt::format("no world gives this output: {}", shown_.output(output)));
  }
  return output;
}

Explanation Answers::explain(const AskedInput& input, const ExplainQuestion& question) const {
  ExplainRequest request{.top = question.top};
  if (question.output) request.output = asked_output(*question.output);
  auto explanation = predictor_.explain(input.beliefs, request);
  if (explanation.by == ExplainedBy::kModel && explanation.worlds.empty()) {
    throw Error(fmt::format("no world found that gives this output: {}", shown_.output(explanation.output)));
  }
  return explanation;
}

void Answers::add_label(const AskedInput& input, Answer& answer) const {
  if (!input.label) return;
  answer.json["label"] = shown_.label(*input.label);
  answer.text += fmt::format("label {}\n", shown_.label(*input.label));
}

Answer Answers::explain_jointly(const AskedInput& input, std::int64_t top) const {
  Answer answer{.json = {{"task", task_}, {"pairs", nlohmann::ordered_json::array()}}, .text = {}};
  for (const auto& pair : predictor_.explain_jointly(input.beliefs, top)) {
    answer.json["pairs"].push_back({{"output", shown_.output(pair.output)},
                                    {"text", shown_.world(pair.world)},
                                    {"world", pair.world},
                                    {"probability", pair.probability},
                                    {"satisfied", pair.satisfied}});
    answer.text += fmt::format("{:>9.4f} %  {} from {}{}\n", 100 * pair.probability, shown_.output(pair.output),
                               shown_.world(pair.world), pair.satisfied ? "" : "  (gives another output)");
  }
  return answer;
}

// The most probable worlds by q(w|y,P), and what was read otherwise in each.
Answer Answers::tell_worlds(const AskedInput& input, const Explanation& explanation) const {
  Answer answer{.json = {{"task", task_},
                         {"read", shown_.world(explanation.read)},
                         {"world", explanation.read},
                         {"output", shown_.output(explanation.output)},
                         {"probability", explanation.probability}},
                .text = fmt::format("read {}, which gives {}\nexplaining {} (q {:.4f} %)\n",
                                    shown_.world(explanation.read), shown_.output(explanation.read_output),
                                    shown_.output(explanation.output), 100 * explanation.probability)};
  answer.json["explanations"] = nlohmann::ordered_json::array();
  constexpr std::size_t kLongest = 200;  // letters of changes that are told of one world
  for (const auto& world : explanation.worlds) {
    answer.json["explanations"].push_back({{"text", shown_.world(world.world)},
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
      changes +=
          fmt::format("{}{}: {} ({:.2f} %) read as {} ({:.2f} %)", told == 0 ? "" : "; ", shown_.variable(variable),
                      shown_.value(variable, now), 100 * belief_in(explanation, variable, now),
                      shown_.value(variable, before), 100 * belief_in(explanation, variable, before));
    }
    if (told < world.changed.size()) changes += fmt::format("; and {} more", world.changed.size() - told);
    answer.text +=
        fmt::format("{:>9.4f} %  {}{}{}\n", 100 * world.probability, shown_.world(world.world),
                    world.satisfied ? "" : "  (gives another output)", changes.empty() ? "  as read" : "  " + changes);
  }
  add_label(input, answer);
  return answer;
}

// The most probable world that gives the output, by search: what it changes, and which outputs what was read violates.
Answer Answers::tell_search(const AskedInput& input, const Explanation& explanation) const {
  const auto& limits = predictor_.options().limits;
  const auto output = shown_.output(explanation.output);
  Answer answer{
      .json = {{"task", task_},
               {"read", shown_.world(explanation.read)},
               {"world", explanation.read},
               {"output", output},
               {"proven", explanation.proven},
               {"nats", limits.nats},
               {"beliefs", beliefs_json(explanation.beliefs)}},
      .text = fmt::format("read, {}:\n{}\n", shown_.output(explanation.read_output), shown_.layout(explanation.read))};
  auto& [json, text] = answer;
  if (explanation.holds) {
    json["probability"] = *explanation.holds;
    text += fmt::format("{} with probability {:.2f} %\n", output, 100 * *explanation.holds);
  }
  json["violated"] = nlohmann::ordered_json::array();
  constexpr std::size_t kMostShown = 20;
  for (std::size_t variable = 0; variable < explanation.output.size(); ++variable) {
    if (explanation.output[variable] == explanation.read_output[variable]) continue;
    const auto name = shown_.output_variable(static_cast<std::int64_t>(variable));
    json["violated"].push_back(name);
    if (json["violated"].size() <= kMostShown) text += fmt::format("violated: {}\n", name);
  }
  if (json["violated"].size() > kMostShown) text += fmt::format("and {} more\n", json["violated"].size() - kMostShown);
  if (explanation.worlds.empty()) {
    text += fmt::format("no world within {:.0f} nats of the one read is {}{}\n", limits.nats, output,
                        explanation.proven ? "" : ", as far as was searched");
  } else {
    const auto& best = explanation.worlds[0];
    json["gap"] = explanation.gap;
    json["explanation"] = best.world;
    json["changed"] = nlohmann::ordered_json::array();
    text += fmt::format("most probable world that is {}, {:.2f} nats below the one read{}:\n{}\n", output,
                        explanation.gap, explanation.proven ? "" : " (the search gave up; there may be a better one)",
                        shown_.layout(best.world));
    for (const auto variable : best.changed) {
      const auto now = best.world[static_cast<std::size_t>(variable)],
                 before = explanation.read[static_cast<std::size_t>(variable)];
      const auto now_believed = belief_in(explanation, variable, now),
                 before_believed = belief_in(explanation, variable, before);
      json["changed"].push_back({{"name", shown_.variable(variable)},
                                 {"value", now},
                                 {"probability", now_believed},
                                 {"read", before},
                                 {"read_probability", before_believed}});
      text += fmt::format("{}: {} ({:.2f} %) read as {} ({:.2f} %)\n", shown_.variable(variable),
                          shown_.value(variable, now), 100 * now_believed, shown_.value(variable, before),
                          100 * before_believed);
    }
  }
  add_label(input, answer);
  return answer;
}

// What was read, what is predicted, and which variables matter most to that.
Answer Answers::tell_influence(const AskedInput& input, const Explanation& explanation, std::int64_t top) const {
  const auto output = shown_.output(explanation.output), of_read = shown_.output(explanation.read_output);
  Answer answer{.json = {{"task", task_},
                         {"read", shown_.world(explanation.read)},
                         {"world", explanation.read},
                         {"output", output},
                         {"probability", explanation.probability},
                         {"of_world_read", of_read}},
                .text = fmt::format("read:\n{}\npredicted: {} (q {:.2f} %)\n", shown_.layout(explanation.read), output,
                                    100 * explanation.probability)};
  auto& [json, text] = answer;
  text += explanation.read_output == explanation.output
              ? "which is the output of the world read\n"
              : fmt::format("the output of the world read is another: {}\n", of_read);
  if (input.label) {
    const bool as_predicted =
        input.label->outputs.defined() && values_of(input.label->outputs[0]) == explanation.output;
    json["label"] = shown_.label(*input.label);
    text += fmt::format("label: {}{}\n", shown_.label(*input.label), as_predicted ? ", as predicted" : "");
  }
  std::vector<std::int64_t> order(explanation.influence.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto weight = [&influence = explanation.influence](std::int64_t variable) {
    return influence[static_cast<std::size_t>(variable)];
  };
  std::ranges::stable_sort(order, std::ranges::greater(), weight);
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  json["matters"] = nlohmann::ordered_json::array();
  for (const auto variable : order) {
    const auto read = explanation.read[static_cast<std::size_t>(variable)];
    const auto believed = belief_in(explanation, variable, read);
    json["matters"].push_back({{"name", shown_.variable(variable)},
                               {"weight", weight(variable)},
                               {"read", shown_.value(variable, read)},
                               {"probability", believed}});
    text += fmt::format("{} matters {:.3f}: read as {} ({:.2f} %)\n", shown_.variable(variable), weight(variable),
                        shown_.value(variable, read), 100 * believed);
  }
  return answer;
}

Answer Answers::tell(const AskedInput& input, const Explanation& explanation, std::int64_t top) const {
  switch (explanation.by) {
    case ExplainedBy::kModel:
      return tell_worlds(input, explanation);
    case ExplainedBy::kSearch:
      return tell_search(input, explanation);
    case ExplainedBy::kInfluence:
      return tell_influence(input, explanation, top);
  }
  return {};
}

Picture Answers::picture(const AskedInput& input, const Explanation& explanation) const {
  Picture picture{.inputs = input.inputs,
                  .read = explanation.read,
                  .predicted = explanation.output,
                  .influence = explanation.influence};
  if (!explanation.worlds.empty()) picture.explained = explanation.worlds[0].world;
  if (explanation.by == ExplainedBy::kInfluence && input.label && input.label->outputs.defined()) {
    picture.label = values_of(input.label->outputs[0]);
  }
  return picture;
}

std::vector<RecordedStep> Answers::record(const AskedInput& input, const Explanation& explanation) const {
  const auto world = explanation.by == ExplainedBy::kModel && !explanation.worlds.empty() ? explanation.worlds[0].world
                                                                                          : std::vector<std::int64_t>();
  return predictor_.record(input.beliefs, explanation.output, world);
}

}  // namespace anesi

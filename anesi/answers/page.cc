// What a page is told besides: beliefs, paths and conflicts by variable, what follows from what is known, rollouts.
#include <fmt/format.h>

#include <algorithm>

#include "anesi/answers/answers.h"
#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/observations.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// The cells that a walk visits, from its start on.
std::vector<std::int64_t> cells_of(const GridWalk& walk, Values path) {
  std::vector<std::int64_t> cells{walk.start};
  for (const auto direction : path) {
    if (direction == kNone) break;
    const auto next = walk.step(cells.back(), direction);
    if (next == kNone) break;
    cells.push_back(next);
  }
  return cells;
}

// Beliefs of each variable from the worlds that explain an output, [worlds, domain], where those are nearly all there
// are; else undefined. A learned q that finds an output next to impossible knows little of what stands behind it; the
// pruner knows which worlds do.
torch::Tensor beliefs_of_worlds(const Explanation& explanation, const Space& worlds) {
  constexpr double kNearlyAll = 0.999;
  if (explanation.by != ExplainedBy::kModel) return {};
  double total = 0;
  for (const auto& explained : explanation.worlds) total += explained.satisfied ? explained.probability : 0;
  if (total < kNearlyAll) return {};
  auto beliefs = torch::zeros({worlds.variables(), worlds.largest_domain()}, torch::kFloat64);
  auto shares = beliefs.accessor<double, 2>();
  for (const auto& explained : explanation.worlds) {
    if (!explained.satisfied) continue;
    for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
      shares[variable][explained.world[static_cast<std::size_t>(variable)]] += explained.probability / total;
    }
  }
  return beliefs;
}

}  // namespace

AskedInput Answers::input(torch::Tensor inputs, std::optional<Observations> label) const {
  auto beliefs = predictor_.beliefs(inputs);
  return {std::move(inputs), std::move(beliefs), std::move(label)};
}

AskedInput Answers::example(const Examples& examples, std::int64_t index) const {
  const auto batch = examples.batch(index, index + 1);
  return input(batch.inputs, batch.observations);
}

AskedInput Answers::with_known(const AskedInput& input, const std::map<std::int64_t, std::int64_t>& known) const {
  if (known.empty()) return input;
  const auto& worlds = predictor_.problem().worlds();
  auto values = torch::full({1, worlds.variables()}, kUnset, torch::kInt64);
  for (const auto& [variable, value] : known) {
    if (variable < 0 || variable >= worlds.variables()) {
      throw UsageError(fmt::format("there is no variable {}; there are {}", variable, worlds.variables()));
    }
    if (value < 0 || value >= worlds.domain(variable)) {
      throw UsageError(fmt::format("{} cannot be {}; its values are 0 to {}", shown_.variable(variable), value,
                                   worlds.domain(variable) - 1));
    }
    values[0][variable] = value;
  }
  auto certain = input;
  certain.beliefs = clamped(input.beliefs, values);
  return certain;
}

nlohmann::ordered_json Answers::beliefs_json(const torch::Tensor& beliefs) const {
  const auto rows = beliefs.to(torch::kFloat64).reshape({predictor_.problem().worlds().variables(), -1}).contiguous();
  const auto* const values = rows.const_data_ptr<double>();
  auto lists = nlohmann::ordered_json::array();
  for (std::int64_t variable = 0; variable < rows.size(0); ++variable) {
    const auto* const first = values + variable * rows.size(1);
    lists.push_back(std::vector<double>(first, first + predictor_.problem().worlds().domain(variable)));
  }
  return lists;
}

nlohmann::ordered_json Answers::explanation_json(const AskedInput& input, const Explanation& explanation,
                                                 std::int64_t top) const {
  auto json = tell(input, explanation, top).json;
  json["by"] = name_of(explanation.by);
  json["beliefs"] = beliefs_json(explanation.beliefs);
  json["read_output"] = explanation.read_output;
  json["output_values"] = explanation.output;
  if (explanation.by == ExplainedBy::kInfluence) json["influence"] = explanation.influence;
  const auto& facts = predictor_.problem().facts();
  if (const auto* const walk = facts.find<GridWalk>()) {
    json["path"] = cells_of(*walk, explanation.output);
    json["read_path"] = cells_of(*walk, explanation.read_output);
    if (input.label && input.label->outputs.defined()) {
      json["label_path"] = cells_of(*walk, values_of(input.label->outputs[0]));
    }
  }
  if (const auto* const pairs = facts.find<VariablePairs>()) {
    json["conflicts"] = nlohmann::ordered_json::array();
    for (std::size_t pair = 0; pair < pairs->pairs.size(); ++pair) {
      if (explanation.read_output[pair] != explanation.output[pair]) json["conflicts"].push_back(pairs->pairs[pair]);
    }
  }
  return json;
}

Explanation Answers::explain_known(const AskedInput& certain, const ConditionQuestion& question,
                                   std::int64_t top) const {
  auto explanation = explain(certain, {.output = question.output, .top = top});
  // A network's q may leave next to nothing to worlds that contradict what is known.
  std::erase_if(explanation.worlds, [&](const ExplainedWorld& explained) {
    return std::ranges::any_of(question.known, [&](const auto& known) {
      return explained.world[static_cast<std::size_t>(known.first)] != known.second;
    });
  });
  const bool found = std::ranges::any_of(explanation.worlds, &ExplainedWorld::satisfied);
  if (explanation.by == ExplainedBy::kModel && question.output && !question.known.empty() && !found) {
    throw Error(fmt::format("no world found that gives {} with what is known", shown_.output(explanation.output)));
  }
  return explanation;
}

nlohmann::ordered_json Answers::condition(const AskedInput& input, const ConditionQuestion& question) const {
  const auto certain = with_known(input, question.known);
  // What is known of the world is in the beliefs already; how likely it was, in those of the input.
  Evidence evidence;
  const auto output = question.output ? std::optional(asked_output(*question.output)) : std::nullopt;
  if (output) evidence.outputs = tensor_of(*output).unsqueeze(0);
  if (!question.known.empty()) {
    evidence.worlds = torch::full({1, predictor_.problem().worlds().variables()}, kUnset, torch::kInt64);
    for (const auto& [variable, value] : question.known) evidence.worlds[0][variable] = value;
  }
  const auto conditioned = predictor_.condition(input.beliefs, evidence, question.top);
  auto prediction = tell_predictions(conditioned.predictions);
  add_label(input, prediction);
  prediction.json["beliefs"] = beliefs_json(certain.beliefs[0]);
  nlohmann::ordered_json json{{"beliefs", beliefs_json(conditioned.beliefs[0])},
                              {"log_prob", conditioned.log_prob.item<double>()},
                              {"prediction", std::move(prediction.json)}};
  auto explanation = explain_known(certain, question, std::max(question.top, predictor_.options().beam));
  if (output) {
    const auto counted = beliefs_of_worlds(explanation, predictor_.problem().worlds());
    if (counted.defined()) json["beliefs"] = beliefs_json(counted);
  }
  if (std::ssize(explanation.worlds) > question.top) {
    explanation.worlds.erase(explanation.worlds.begin() + question.top, explanation.worlds.end());
  }
  json["explanation"] = explanation_json(certain, explanation, question.top);
  return json;
}

nlohmann::ordered_json Answers::rollout(const AskedInput& input, const ConditionQuestion& question) const {
  auto steps = nlohmann::ordered_json::array();
  if (!predictor_.chooses()) return {{"steps", std::move(steps)}};
  const auto certain = with_known(input, question.known);
  for (const auto& step : record(certain, explain_known(certain, question, predictor_.options().beam))) {
    const auto& space = step.output ? predictor_.problem().outputs() : predictor_.problem().worlds();
    std::vector<std::string> values;
    for (std::int64_t value = 0; value < space.domain(step.variable); ++value) {
      values.push_back(step.output ? std::to_string(value) : shown_.value(step.variable, value));
    }
    steps.push_back({{"output", step.output},
                     {"variable", step.variable},
                     {"name", step.output ? shown_.output_variable(step.variable) : shown_.variable(step.variable)},
                     {"values", std::move(values)},
                     {"probabilities", step.probabilities},
                     {"allowed", step.allowed},
                     {"chosen", step.chosen}});
  }
  return {{"steps", std::move(steps)}};
}

}  // namespace anesi

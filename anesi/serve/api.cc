#include "anesi/serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/io/without_folders.h"
#include "anesi/report/training_charts.h"
#include "anesi/serve/page_files.h"
#include "anesi/serve/shown_input.h"
#include "anesi/tensors/own_words.h"
#include "anesi/tensors/rows.h"

namespace anesi::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSwatches = 8;               // of each value
constexpr std::int64_t kLookedAtForSwatches = 128;  // examples

// What values of each variable are called: one list where that is the same for all.
template <typename Name>
Json value_names(const Space& space, Name name) {
  auto all = Json::array();
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    auto values = Json::array();
    for (std::int64_t value = 0; value < space.domain(variable); ++value) values.push_back(name(variable, value));
    all.push_back(std::move(values));
  }
  const bool same = std::ranges::all_of(all, [&](const Json& values) { return values == all[0]; });
  return same ? Json::array({all[0]}) : all;
}

template <typename Name, typename ValueName>
Json space_json(const Space& space, Name name, ValueName value_name) {
  auto names = Json::array();
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) names.push_back(name(variable));
  return {{"count", space.variables()},
          {"names", names},
          {"domains", space.domains()},
          {"values", value_names(space, value_name)}};
}

Json input_json(const ServedModel& model, const torch::Tensor& input) {
  const auto shape = shape_of(input);
  if (!shape.images) {
    auto names = Json::array();
    for (std::int64_t number = 0; number < shape.numbers; ++number)
      names.push_back(fmt::format("input {}", number + 1));
    return {{"kind", "numbers"}, {"count", shape.numbers}, {"names", names}};
  }
  const auto& predictor = model.predictor();
  const bool one_a_variable =
      shape.parts == predictor.problem().worlds().variables() && predictor.perception().separable();
  // Strokes are fewer than what they are drawn on.
  const auto ink = shape.channels > 1 ? Json() : Json(input.mean().item<double>() < 0 ? "light" : "dark");
  return {{"kind", "images"},     {"parts", shape.parts}, {"channels", shape.channels},      {"height", shape.height},
          {"width", shape.width}, {"ink", ink},           {"one_a_variable", one_a_variable}};
}

// Facts of the problem that change how a page shows it.
void add_facts(const ServedModel& model, Json& json) {
  const auto& facts = model.predictor().problem().facts();
  const auto* const asked = facts.find<AskedOutput>();
  json["asks"] = asked == nullptr ? Json() : Json(model.presentation().output(asked->output));
  const auto* const walk = facts.find<GridWalk>();
  json["walk"] = walk == nullptr ? Json() : Json{{"side", walk->side}, {"start", walk->start}, {"goal", walk->goal}};
  const auto* const pairs = facts.find<VariablePairs>();
  json["pairs"] = pairs == nullptr ? Json() : Json(pairs->pairs);
}

const Examples& split_of(const ServedModel& model, const std::string& name) {
  const auto* const split = model.split(name);
  if (split == nullptr) throw Refusal(400, fmt::format("split: this run has no {} examples", name));
  return *split;
}

Batch example_of(const ServedModel& model, const InputQuestion& question) {
  const auto& examples = split_of(model, question.split);
  if (question.index >= examples.size()) {
    throw Refusal(400, fmt::format("index: the {} split has {} examples, 0 to {}", question.split, examples.size(),
                                   examples.size() - 1));
  }
  return examples.batch(question.index, question.index + 1);
}

AskedInput input_of(const ServedModel& model, const InputQuestion& question) {
  const auto batch = example_of(model, question);
  const auto& seen = batch.observations;
  return model.answers().input(changed_input(batch.inputs, question),
                               question.changed() ? std::nullopt : std::optional(seen));
}

std::optional<AskedFor> asked_for(const OutputQuestion& output) {
  if (output.text) return *output.text;
  if (output.values) return *output.values;
  return std::nullopt;
}

// For each value, the parts that perception is surest of.
Json swatches_of(const ServedModel& model) {
  const auto* const examples = model.split("test") != nullptr ? model.split("test") : model.split("train");
  const auto& worlds = model.predictor().problem().worlds();
  if (examples == nullptr || !worlds.all_domains_equal()) return nullptr;
  const auto batch = examples->batch(0, std::min(examples->size(), kLookedAtForSwatches));
  const auto shape = shape_of(batch.inputs.slice(0, 0, 1));
  if (!shape.images || shape.parts != worlds.variables()) return nullptr;
  const auto parts = batch.inputs.flatten(0, 1);                               // [examples * parts, …]
  const auto beliefs = model.predictor().beliefs(batch.inputs).flatten(0, 1);  // [examples * parts, domain]
  const auto [sureness, read] = beliefs.max(1);
  auto values = Json::array();
  for (std::int64_t value = 0; value < worlds.domain(0); ++value) {
    const auto places = (read == value).nonzero().view(-1);
    const auto order = sureness.index_select(0, places).argsort(/*dim=*/0, /*descending=*/true).slice(0, 0, kSwatches);
    const auto surest = places.index_select(0, order);
    values.push_back(surest.numel() == 0 ? Json::array() : parts_json(parts.index_select(0, surest)));
  }
  return values;
}

}  // namespace

std::shared_ptr<const ServedModel> Api::model() const {
  auto model = run_.model();
  if (!model) throw Refusal(503, "there is no model yet: training has just begun; try again");
  return model;
}

Json Api::of(const AskFile&) const { throw Refusal(404, "there is nothing at this address"); }

Json Api::of(const AskRun&) const {
  const auto model = run_.model();
  Json json{{"version", this_build().version},
            {"name", run_.name()},
            {"task", run_.task()},
            {"summary", tasks().find(run_.task()).summary},
            {"preset", run_.preset()},
            {"state", run_.state()},
            {"model", model ? model->number() : 0}};
  if (!model) {
    for (const auto* const key : {"worlds", "outputs", "layout", "input", "explains_by", "chooses", "prunes", "asks",
                                  "walk", "pairs", "splits", "origin"}) {
      json[key] = nullptr;
    }
    json["result"] = without_folders(run_.result());
    return json;
  }
  const auto& predictor = model->predictor();
  const auto& problem = predictor.problem();
  const auto& shown = model->presentation();
  json["worlds"] = space_json(
      problem.worlds(), [&](std::int64_t variable) { return shown.variable(variable); },
      [&](std::int64_t variable, std::int64_t value) { return shown.value(variable, value); });
  json["outputs"] = space_json(
      problem.outputs(), [&](std::int64_t variable) { return shown.output_variable(variable); },
      [](std::int64_t, std::int64_t value) { return std::to_string(value); });
  json["layout"] = {{"columns", shown.columns()}, {"block", shown.block()}};
  const auto& data = model->data();
  const auto* const any = model->split("test") != nullptr ? model->split("test") : model->split("train");
  json["input"] = any == nullptr ? Json() : input_json(*model, any->batch(0, 1).inputs);
  json["explains_by"] = name_of(predictor.explains_by());
  json["chooses"] = predictor.chooses();
  json["prunes"] = predictor.pruning() != nullptr;
  add_facts(*model, json);
  json["splits"] = Json::object();
  for (const auto* const name : {"train", "validation", "test"}) {
    if (const auto* const split = model->split(name)) json["splits"][name] = split->size();
  }
  json["origin"] = origin_without_folder(data.origin);
  json["result"] = without_folders(run_.result());
  return json;
}

Json Api::of(const AskExamples& asked) const {
  const auto model = this->model();
  split_of(*model, asked.split);
  const auto found = model->rows(asked);
  constexpr std::array kFilters{"all", "wrong", "unsure", "gap"};
  Json json{{"split", asked.split},
            {"filter", kFilters[static_cast<std::size_t>(asked.filter)]},
            {"total", found.total},
            {"looked_at", found.looked_at},
            {"of", found.of}};
  json["rows"] = Json::array();
  for (const auto& [index, row] : found.rows) {
    json["rows"].push_back({{"index", index},
                            {"read", model->presentation().world(row.read)},
                            {"predicted", row.predicted},
                            {"probability", row.probability},
                            {"label", row.label},
                            {"right", row.right ? Json(*row.right) : Json()},
                            {"gap", row.gap ? Json(*row.gap) : Json()}});
  }
  return json;
}

Json Api::of(const AskInput& asked) const {
  const auto model = this->model();
  const auto batch = example_of(*model, asked.input);
  const bool images = shape_of(batch.inputs).images;
  const bool known = batch.worlds.defined() && (batch.worlds != kUnset).all().item<bool>();
  return {{"split", asked.input.split},
          {"index", asked.input.index},
          {"parts", images ? parts_json(batch.inputs[0]) : Json()},
          {"numbers", images ? Json() : numbers_json(batch.inputs)},
          {"label", model->presentation().label(batch.observations)},
          {"truth", known ? Json(values_of(batch.worlds[0])) : Json()}};
}

Json Api::of(const AskSwatches&) const {
  const auto model = this->model();
  {
    const std::lock_guard lock(mutex_);
    if (swatches_.model == model->number()) return swatches_.json;
  }
  Json json{{"values", swatches_of(*model)}};
  const std::lock_guard lock(mutex_);
  swatches_ = {model->number(), json};
  return json;
}

Json Api::of(const AskPredict& asked) const {
  const auto model = this->model();
  const auto input = input_of(*model, asked.input);
  auto json = model->answers().predict(input, asked.top).json;
  json["beliefs"] = model->answers().beliefs_json(input.beliefs);
  return json;
}

Json Api::of(const AskExplain& asked) const {
  const auto model = this->model();
  const auto input = input_of(*model, asked.input);
  const auto explanation = model->answers().explain(input, {.output = asked_for(asked.output), .top = asked.top});
  return model->answers().explanation_json(input, explanation, asked.top);
}

Json Api::of(const AskCondition& asked) const {
  const auto model = this->model();
  return model->answers().condition(input_of(*model, asked.input),
                                    {.known = asked.known, .output = asked_for(asked.output), .top = asked.top});
}

Json Api::of(const AskRollout& asked) const {
  const auto model = this->model();
  return model->answers().rollout(input_of(*model, asked.input),
                                  {.known = asked.known, .output = asked_for(asked.output)});
}

Json Api::of(const AskTraining& asked) const {
  const auto lines = run_.log();
  Json json{{"state", run_.state()}, {"phase", nullptr}, {"seconds", nullptr}};
  if (!lines.empty() && lines.back().is_object()) {
    for (const auto* const key : {"phase", "seconds"}) json[key] = lines.back().value(key, Json());
  }
  json["rows"] = Json::array();
  for (auto line = asked.after; line < std::ssize(lines); ++line) {
    json["rows"].push_back(lines[static_cast<std::size_t>(line)]);
  }
  json["next"] = lines.size();
  json["charts"] = Json::array();
  for (const auto& chart : training_charts(lines)) {
    json["charts"].push_back({{"title", chart.title},
                              {"svg", chart.svg},
                              {"table", {{"columns", chart.table.columns}, {"rows", chart.table.rows}}}});
  }
  return json;
}

Json Api::of(const AskReport&) const {
  auto figures = run_.report();
  if (figures.is_null()) throw Refusal(503, "the report is being made; try again");
  if (figures.is_string()) throw Error(figures.get<std::string>());
  return figures;
}

Json Api::json(const Question& question) const {
  return std::visit([this](const auto& asked) { return of(asked); }, question);
}

std::string Api::without_places(const std::string& message) const {
  const auto directory = run_.directory().string();
  auto shown = message;
  for (std::size_t at = 0;
       directory.find('/') != std::string::npos && (at = shown.find(directory, at)) != std::string::npos;
       at += run_.name().size()) {
    shown.replace(at, directory.size(), run_.name());
  }
  return without_folders(shown);
}

HttpAnswer Api::answer(const HttpRequest& request) const {
  try {
    const auto question = read_question(request);
    if (const auto* const file = std::get_if<AskFile>(&question)) {
      auto found = page_file(file->name, page_);
      if (!found) return refused(404, "there is nothing at this address");
      return {.type = std::move(found->type), .body = std::move(found->contents)};
    }
    HttpAnswer answer;
    threads_.run([&] {
      answer.body = json(question).dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
    });
    return answer;
  } catch (const Refusal& refusal) {
    return refused(refusal.status(), refusal.what());
  } catch (const UsageError& error) {
    return refused(400, without_places(in_own_words(error)));
  } catch (const Error& error) {
    return refused(422, without_places(in_own_words(error)));
  } catch (const std::exception&) {
    return refused(500, "this is a mistake in anesi; please report it");
  }
}

}  // namespace anesi::serve

#include "anesi/report/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/output_tables.h"
#include "anesi/discover/drawing.h"
#include "anesi/exact/found_facts.h"
#include "anesi/io/safetensors.h"
#include "anesi/io/without_folders.h"
#include "anesi/predict/renaming.h"
#include "anesi/run/load_run.h"
#include "anesi/run/machine.h"
#include "anesi/run/run.h"
#include "anesi/run/run_record.h"
#include "anesi/run/summary.h"
#include "anesi/tensors/own_words.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

using Json = nlohmann::ordered_json;

struct Mistake {
  Json figures;
  ReportPicture picture;
};

// Of one run.
struct RunFigures {
  Json figures;
  std::vector<Mistake> mistakes;  // the surest first
  std::string machine;            // drawn
};

// Every option, and which of them are not as the task's first preset has them.
void add_options(const Configuration& configuration, Json& figures) {
  const Configuration usual(configuration.task_name);
  const auto usually = usual.values();
  figures["options"] = configuration.values();
  figures["changed"] = Json::array();
  for (const auto& row : configuration.table().rows()) {
    const auto value = configuration.table().get(row.name);
    const auto before = usually.find(row.name);
    if (before == usually.end() || before->second == value) continue;
    figures["changed"].push_back({{"name", row.name},
                                  {"value", value},
                                  {"usual", before->second},
                                  {"applies", configuration.applies(row.name)},
                                  {"help", row.help}});
  }
}

Json of_reliability(const Evaluation& evaluation) {
  auto bins = Json::array();
  for (const auto& bin : reliability(evaluation.outcomes->confidence, evaluation.outcomes->right)) {
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"examples", bin.examples},
                    {"confidence", bin.confidence},
                    {"right", bin.right}});
  }
  return {{"ece", evaluation.ece}, {"examples", evaluation.examples}, {"bins", bins}};
}

// Why there is no matrix of world values that were read against the true ones, or "".
std::string no_confusion(const Space& worlds, const Examples& data) {
  constexpr std::int64_t kMostValues = 20;
  if (!data.has_worlds() || !(data.worlds() != kUnset).any().item<bool>()) {
    return "The true worlds of the test data are not known.";
  }
  if (!worlds.all_domains_equal())
    return "World variables have different domains, so their values are different things.";
  if (worlds.domain(0) > kMostValues) {
    return fmt::format("World variables have {} values, which no table shows.", worlds.domain(0));
  }
  return "";
}

Json of_confusion(const LoadedRun& run, const torch::Tensor& read, const torch::Tensor& truth) {
  const auto& problem = run.predictor.problem();
  const auto values = problem.worlds().domain(0);
  const auto known = truth != kUnset;
  auto seen = read;
  Json json{{"values", Json::array()}, {"renamed", nullptr}, {"counts", Json::array()}};
  if (problem.facts().find<ValuesAreNames>() != nullptr) {
    const auto names = best_renaming(read, truth, values);
    json["renamed"] = names;
    seen = tensor_of(names).index_select(0, read.reshape(-1)).view_as(read);
  }
  const auto pairs = (truth * values + seen).masked_select(known);
  const auto counts = torch::bincount(pairs, {}, values * values).view({values, values});
  for (std::int64_t value = 0; value < values; ++value) {
    json["values"].push_back(run.presentation().value(0, value));
    json["counts"].push_back(values_of(counts[value]));
  }
  return json;
}

// Why nothing was found by asking c.
std::string no_found(const std::filesystem::path& directory) {
  const auto path = directory / "found.safetensors";
  if (!std::filesystem::exists(path)) {
    return "Nothing had to be found out: the task says what its function is, or the options choose a q.";
  }
  const auto words = read_safetensors(path).metadata;
  const auto reason = words.find("reason");
  return fmt::format("Nothing was found by asking the function{}.",
                     reason == words.end() ? "" : "; q is " + reason->second);
}

// What was found by asking c, and its picture; throws Error in words where there is nothing to tell.
Json of_found(const LoadedRun& run, const std::filesystem::path& directory, std::string& machine) {
  const auto& facts = run.predictor.problem().facts();
  const auto* const found = facts.find<FoundFacts>();
  if (found == nullptr || (!found->automaton && !found->tables)) throw Error(no_found(directory));
  Json json{{"summary", found->summary}, {"kind", found->automaton ? "automaton" : "tables"}};
  if (found->automaton) {
    const auto& automaton = *facts.find<Automaton>();
    json["states"] = automaton.widths();
    json["widest"] = std::ranges::max(automaton.widths());
    json["order"] = automaton.reading().read();
    const auto& shown = run.presentation();
    try {
      machine =
          draw_automaton(automaton, {.title = run.configuration->task_name,
                                     .world = [&](std::int64_t variable) { return shown.variable(variable); },
                                     .output = [&](std::int64_t variable) { return shown.output_variable(variable); }});
    } catch (const UsageError& error) {
      json["not_drawn"] = error.what();
    }
  } else {
    json["tables"] = facts.find<OutputTables>()->tables.size();
  }
  return json;
}

// As `anesi explain` tells it, with its picture.
void explain_mistake(const LoadedRun& run, const Examples& data, std::int64_t index, Mistake& mistake) {
  const auto answers = run.answers();
  const auto input = answers.example(data, index);
  const auto& shown = run.presentation();
  if (!input.inputs.is_floating_point() || input.inputs.dim() <= 2) {
    constexpr std::int64_t kMostNumbers = 64;
    const auto numbers = input.inputs.reshape(-1).slice(0, 0, kMostNumbers).to(torch::kFloat64).contiguous();
    const auto* const first = numbers.const_data_ptr<double>();
    mistake.figures["input"] = std::vector<double>(first, first + numbers.numel());
  }
  mistake.picture = input_picture(input.inputs, shown.columns());
  try {
    const auto explanation = answers.explain(input);
    auto told = answers.tell(input, explanation);
    mistake.figures["explanation"] = std::move(told.json);
    mistake.figures["text"] = told.text;
    if (const auto svg = shown.draw(answers.picture(input, explanation))) mistake.picture = {svg_uri(*svg)};
    // What the truth would have taken, where the label says what the output is.
    const bool holds =
        input.label->outputs.defined() && (!input.label->holds.defined() || input.label->holds.all().item<bool>());
    const auto truth = holds ? values_of(input.label->outputs[0]) : explanation.output;
    if (explanation.by != ExplainedBy::kInfluence && truth != explanation.output) {
      auto wanted = answers.tell(input, answers.explain(input, {.output = truth, .top = 2}));
      mistake.figures["explanation_of_label"] = std::move(wanted.json);
      mistake.figures["text_of_label"] = wanted.text;
    }
  } catch (const std::exception& error) {
    mistake.figures["not_explained"] = in_own_words(error);
  }
}

std::vector<Mistake> surest_mistakes(const LoadedRun& run, const Examples& data, std::int64_t most, Json& figures) {
  constexpr std::int64_t kAtOnce = 100;
  struct Wrong {
    std::int64_t index;
    Judged judged;
  };
  std::vector<Wrong> wrong;
  std::int64_t said = 0;
  const auto answers = run.answers();
  for (std::int64_t begin = 0; begin < data.size(); begin += kAtOnce) {
    const auto end = std::min(begin + kAtOnce, data.size());
    auto judged = answers.judge(data, begin, end);
    for (std::int64_t index = begin; index < end; ++index) {
      auto& one = judged[static_cast<std::size_t>(index - begin)];
      if (one.right) ++said;
      if (one.right && !*one.right) wrong.push_back({index, std::move(one)});
    }
  }
  figures["wrong"] = wrong.size();
  figures["judged"] = said;
  if (said == 0) throw Error("The labels of the test data do not say which predictions are right.");
  std::ranges::stable_sort(wrong, std::ranges::greater(), [](const Wrong& one) { return one.judged.probability; });
  std::vector<Mistake> mistakes;
  for (const auto& [index, judged] : wrong) {
    if (std::ssize(mistakes) == most) break;
    mistakes.push_back({.figures = {{"index", index},
                                    {"read", run.presentation().world(judged.read)},
                                    {"predicted", judged.predicted},
                                    {"probability", judged.probability},
                                    {"label", judged.label}},
                        .picture = {}});
    explain_mistake(run, data, index, mistakes.back());
  }
  return mistakes;
}

// All that needs the saved model. Each part by itself: one that fails leaves the others.
class ModelFigures {
 public:
  ModelFigures(const RunRecord& record, const TaskContext& context, const ReportOptions& options, RunFigures& result)
      : record_(record), context_(context), options_(options), result_(result) {}

  void add() {
    attempt("model", "The model cannot be read", [&] {
      const auto run = load_run(record_.directory, context_);
      add_model(run);
      attempt("found", "", [&] { result_.figures["found"] = of_found(run, record_.directory, result_.machine); });
      attempt("data", "The data cannot be loaded", [&] { add_figures_of_data(run); });
    });
  }

 private:
  // Where it throws, the figures say so.
  void attempt(const std::string& part, const std::string& what, const std::function<void()>& act) {
    try {
      act();
    } catch (const std::exception& error) {
      const auto words = in_own_words(error);
      result_.figures["left_out"][part] = what.empty() ? words : fmt::format("{}: {}", what, words);
    }
  }

  void say(const std::string& what) const {
    if (context_.say) context_.say(fmt::format("{}: {}", record_.name(), what));
  }

  void add_model(const LoadedRun& run) {
    const auto& saved = run.saved;
    const auto& problem = run.predictor.problem();
    result_.figures["model"] = {{"architecture", saved.architecture},
                                {"explains", run.predictor.model().explanation != nullptr},
                                {"prunes", run.predictor.pruning() != nullptr},
                                {"perceptions", saved.members},
                                {"worlds", problem.worlds().variables()},
                                {"outputs", problem.outputs().variables()},
                                {"weights_sha256", saved.checksum}};
    result_.figures["data"] = {{"origin", origin_without_folder(saved.trained_on)},
                               {"fingerprint", saved.data_fingerprint}};
  }

  void add_figures_of_data(const LoadedRun& run) {
    const auto data = run.load_data();
    auto& figures = result_.figures;
    figures["data"]["found"] = origin_without_folder(data.origin);
    figures["data"]["same"] = run.saved.data_fingerprint.empty() || run.saved.data_fingerprint == fingerprint(data);
    for (const auto& [name, split] :
         {std::pair{"train", data.train}, std::pair{"validation", data.validation}, std::pair{"test", data.test}}) {
      figures["data"]["examples"][name] = split ? split->size() : 0;
    }
    const auto& test = *data.test;
    say(fmt::format("evaluating {} test examples", test.size()));
    attempt("evaluated", "The model cannot be evaluated", [&] {
      const auto evaluation = run.predictor.evaluate(test, {.outcomes = true});
      figures["evaluated"] = to_json(evaluation);
      attempt("reliability", "", [&] {
        if (!evaluation.outcomes) throw Error("Labels tell no outputs that a prediction could be compared with.");
        if (!run.predictor.q_learned()) throw Error("q did not learn in this training, so it has no confidences.");
        figures["reliability"] = of_reliability(evaluation);
      });
      attempt("confusion", "", [&] {
        if (const auto why = no_confusion(run.predictor.problem().worlds(), test); !why.empty()) throw Error(why);
        if (!evaluation.outcomes) throw Error("Labels tell no outputs, so nothing was evaluated.");
        figures["confusion"] = of_confusion(run, evaluation.outcomes->read, test.worlds());
      });
    });
    say("comparing q with exact inference");
    attempt("check", "q cannot be examined", [&] {
      figures["check"] = check_run(run, test, options_.check).to_json();
      figures["check"]["beliefs"] = std::min(options_.check.beliefs, test.size());
    });
    attempt("mistakes", "", [&] { result_.mistakes = surest_mistakes(run, test, options_.mistakes, figures); });
  }

  const RunRecord& record_;
  const TaskContext& context_;
  const ReportOptions& options_;
  RunFigures& result_;
};

RunFigures figures_of(const RunRecord& record, const TaskContext& context, const ReportOptions& options) {
  RunFigures result;
  auto& figures = result.figures;
  const auto& configuration = *record.configuration;
  figures = {{"name", record.name()},
             {"directory", record.name()},
             {"task", configuration.task_name},
             {"summary", tasks().find(configuration.task_name).summary},
             {"preset", configuration.preset},
             {"seed", configuration.seed},
             {"decide", name_of(configuration.eval.decide)},
             {"state", record.result ? "finished" : "unfinished"}};
  for (const auto* key : {"machine", "began", "ended"}) {
    figures[key] = record.result && record.result->contains(key) ? record.result->at(key) : Json();
  }
  figures["result"] = record.result ? *record.result : Json();
  figures["log"] = record.log;
  for (const auto* key :
       {"model", "data", "evaluated", "reliability", "confusion", "check", "found", "wrong", "judged"}) {
    figures[key] = nullptr;
  }
  figures["left_out"] = Json::object();
  if (record.has_model) {
    ModelFigures(record, context, options, result).add();
  } else {
    figures["left_out"]["model"] =
        "Training has not come to its end, so there is no model yet: it is still running, or was stopped.";
  }
  add_options(configuration, figures);
  return result;
}

// Options that are not the same in all runs, with their values; null where a run has no such option.
Json varied_options(const Json& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    for (const auto& [name, value] : run["options"].items()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  auto varied = Json::object();
  for (const auto& name : names) {
    auto values = Json::array();
    for (const auto& run : runs) values.push_back(run["options"].contains(name) ? run["options"][name] : Json());
    const auto differs = [&](const Json& value) { return value != values[0]; };
    if (std::ranges::any_of(values, differs)) varied[name] = std::move(values);
  }
  return varied;
}

}  // namespace

Report make_report(const std::vector<std::filesystem::path>& runs, const TaskContext& context,
                   const ReportOptions& options) {
  Report report;
  report.figures = {
      {"anesi", this_build().version}, {"made", time_text(std::chrono::system_clock::now())}, {"runs", Json::array()}};
  Summaries summaries;
  std::vector<Mistake> mistakes;
  for (const auto& directory : runs) {
    const auto record = read_run_record(directory);
    auto [figures, wrong, machine] = figures_of(record, context, options);
    for (auto& mistake : wrong) {
      Json of_run{{"run", report.figures["runs"].size()}};
      of_run.update(mistake.figures);
      mistakes.push_back({std::move(of_run), std::move(mistake.picture)});
    }
    if (record.result) summaries.add(*record.result);
    report.figures["runs"].push_back(std::move(figures));
    report.machines.push_back(std::move(machine));
  }
  report.figures["varied"] = varied_options(report.figures["runs"]);
  report.figures["summary"] = runs.size() > 1 ? summaries.to_json() : Json();
  std::ranges::stable_sort(mistakes, std::ranges::greater(),
                           [](const Mistake& mistake) { return mistake.figures["probability"].get<double>(); });
  if (std::ssize(mistakes) > options.mistakes) mistakes.resize(static_cast<std::size_t>(options.mistakes));
  report.figures["mistakes"] = Json::array();
  std::size_t bytes = 0;
  for (auto& [figures, picture] : mistakes) {
    bytes += picture.uri.size();
    if (bytes > options.picture_bytes) {
      figures["no_picture"] = "Its picture is left out, so that the report stays small enough to be sent.";
      bytes -= picture.uri.size();
      picture = {};
    }
    report.figures["mistakes"].push_back(std::move(figures));
    report.pictures.push_back(std::move(picture));
  }
  // It is made to be sent: options and reasons may name files of this machine.
  report.figures = without_folders(std::move(report.figures));
  return report;
}

}  // namespace anesi

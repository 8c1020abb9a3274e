#include "anesi/report/report_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "anesi/core/printable.h"
#include "anesi/io/svg.h"
#include "anesi/io/thousands.h"
#include "anesi/report/chart.h"
#include "anesi/report/input_picture.h"
#include "anesi/report/report_style.h"
#include "anesi/report/training_charts.h"
#include "anesi/run/summary.h"

namespace anesi {
namespace {

using Figures = nlohmann::ordered_json;

std::string escaped(std::string_view text) { return escaped_for_svg(printable(text)); }

// Several lines, each escaped by itself.
std::string escaped_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    result += escaped(text.substr(0, end)) + "\n";
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return result;
}

// What a figure is measured in.
enum class Unit { kShare, kNats, kSeconds, kMilliseconds, kCount, kDistance, kSmall };

std::string in_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::kShare:
      return fmt::format("{:.2f} %", 100 * value);
    case Unit::kNats:
      return fmt::format("{:.4f}", value);
    case Unit::kSeconds:
      return fmt::format("{:.1f} s", value);
    case Unit::kMilliseconds:
      return fmt::format("{:.2f} ms", value);
    case Unit::kCount:
      return value < 0 ? fmt::format("{:.0f}", value) : thousands(static_cast<std::uint64_t>(value));
    case Unit::kDistance:
      return fmt::format("{:.3g}", value);
    case Unit::kSmall:
      return fmt::format("{:.2e}", value);
  }
  return {};
}

// Of a figure of result.json or log.jsonl, by its name.
Unit unit_of(const std::string& name) {
  if (is_share(name)) return Unit::kShare;
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return ends("seconds")        ? Unit::kSeconds
         : ends("ms_per_query") ? Unit::kMilliseconds
         : ends("nll")          ? Unit::kNats
         : ends("ece")          ? Unit::kNats
                                : Unit::kCount;
}

const std::map<std::string, std::string>& meanings() {
  static const std::map<std::string, std::string> kMeanings{
      {"examples", "in the test split"},
      {"symbolic", "the output of the most likely world is the label"},
      {"neural", "q's most likely output is the label"},
      {"per_variable", "world variables read right"},
      {"explanation", "world variables right in the most probable explanation of the prediction"},
      {"satisfied", "sampled explanations that give the predicted output"},
      {"nll", "mean of -log q(label), in nats"},
      {"ece", "expected calibration error of q's confidence, 15 bins"},
      {"decided", "whether the output holds, by score and threshold, is what the label says"},
      {"believed.exact_match", "all variables of the most likely world are right"},
      {"believed.per_variable", "variables of the most likely world that are right"},
      {"believed.satisfied", "most likely worlds that satisfy the constraint"},
      {"constrained.exact_match", "all variables are right, of the most probable world under the constraint"},
      {"constrained.per_variable", "variables that are right, of the most probable world under the constraint"},
      {"constrained.satisfied", "most probable worlds under the constraint that satisfy it"},
      {"ms_per_query", "one example, from input to prediction; median"},
      {"seconds", "without evaluations"},
      {"restarts", "of perception"},
      {"labels_right", "world variables right in the explained training labels"}};
  return kMeanings;
}

// "/believed/exact_match" of "believed.exact_match".
std::string pointer_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return "/" + name;
}

// Names of all numbers in an object, those of nested ones as "outer.inner"; what is said of the machine is no figure.
std::vector<std::string> figure_names(const Figures& object, const std::string& prefix = "") {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) {
    if (value.is_number()) names.push_back(prefix + key);
    if (!value.is_object() || key == "machine") continue;
    const auto inner = figure_names(value, prefix + key + ".");
    names.insert(names.end(), inner.begin(), inner.end());
  }
  return names;
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report), all_(report.figures), runs_(all_["runs"]) {}

  std::string html() {
    const bool several = runs_.size() > 1;
    if (several) {
      add_comparison();
      add_mistakes();
      for (std::size_t run = 0; run < runs_.size(); ++run) add_run(run, "h2", "h3");
    } else {
      add_run(0, "", "h2");
      add_mistakes();
    }
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" "
        "content=\"anesi {}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}<main>\n{}</main>\n{}"
        "<script type=\"application/json\" id=\"figures\">{}</script>\n</body>\n</html>\n",
        escaped(all_["anesi"].get<std::string>()), escaped(title()), kReportStyle, header(), body_, footer(),
        json_for_html());
  }

 private:
  // The figure at a place of the JSON, as people read it.
  std::string figure(const std::string& at, Unit unit) const {
    const auto place = nlohmann::ordered_json::json_pointer(at);
    if (!all_.contains(place) || !all_[place].is_number()) return "<span title=\"does not apply\">–</span>";
    const auto& value = all_[place];
    return fmt::format("<data value=\"{}\" data-at=\"{}\">{}</data>", value.dump(), escaped(at),
                       in_unit(value.get<double>(), unit));
  }
  // A word of the JSON, or what stands there otherwise.
  std::string word(const std::string& at, const std::string& otherwise = "–") const {
    const auto place = nlohmann::ordered_json::json_pointer(at);
    if (!all_.contains(place) || all_[place].is_null()) return escaped(otherwise);
    const auto& value = all_[place];
    return escaped(value.is_string() ? value.get<std::string>() : value.dump());
  }
  static std::string of_run(std::size_t run, const std::string& rest) { return fmt::format("/runs/{}{}", run, rest); }
  std::string name(std::size_t run) const { return runs_[run]["name"].get<std::string>(); }

  std::string title() const {
    return runs_.size() == 1 ? fmt::format("{}: {}", runs_[0]["task"].get<std::string>(), name(0))
                             : fmt::format("{}: {} runs", runs_[0]["task"].get<std::string>(), runs_.size());
  }

  std::string header() const {
    auto text =
        fmt::format("<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(title()), word("/runs/0/summary"));
    if (runs_.size() == 1) {
      text += tiles("/runs/0/result", runs_[0]["result"]);
    } else {
      text += tiles("/summary", all_["summary"]);
      text +=
          "<nav aria-label=\"Runs\"><ul><li><a href=\"#comparison\">Comparison</a></li>"
          "<li><a href=\"#mistakes\">Mistakes</a></li>";
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        text += fmt::format("<li><a href=\"#run-{}\">{}</a></li>", run, escaped(name(run)));
      }
      text += "</ul></nav>\n";
    }
    return text + "</header>\n";
  }

  std::string footer() const {
    return fmt::format(
        "<footer class=\"soft\"><p>Made by anesi {} at {}. All figures are in this file as JSON too: "
        "<code>document.getElementById('figures')</code>.</p></footer>\n",
        word("/anesi"), word("/made"));
  }

  // The headline figures.
  std::string tiles(const std::string& at, const Figures& figures) const {
    if (!figures.is_object()) return "";
    std::string text;
    for (const auto* key : {"accuracy", "per_variable", "nll", "ece", "seconds"}) {
      if (!figures.contains(key) || figures[key].is_null()) continue;
      const auto place = fmt::format("{}/{}", at, key);
      text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(figure_words(key)),
                          figures[key].is_object()
                              ? fmt::format("{} <span>± {}</span>", figure(place + "/mean", unit_of(key)),
                                            figure(place + "/std", unit_of(key)))
                              : figure(place, unit_of(key)));
    }
    return text.empty() ? "" : fmt::format("<dl class=\"tiles\">\n{}</dl>\n", text);
  }

  // Mean and deviation over the runs, and which options differ.
  void add_comparison() {
    body_ += "<section id=\"comparison\">\n<h2>Comparison</h2>\n";
    const auto& varied = all_["varied"];
    const auto& summary = all_["summary"];
    std::vector<std::string> names, options;
    for (const auto& [key, value] : summary.items()) {
      if (key == "restarts" && value["mean"] == 0) continue;  // as nearly always
      if (key != "examples" && key.find('.') == std::string::npos) names.push_back(key);
    }
    const auto headline = std::ranges::find(names, "accuracy");
    if (headline != names.end()) std::rotate(names.begin(), headline, headline + 1);
    constexpr std::size_t kMostOptions = 6;
    for (const auto& [option, values] : varied.items()) {
      if (options.size() < kMostOptions) options.push_back(option);
    }
    body_ += varied.empty() ? "<p>All options are the same in all runs.</p>\n"
                            : fmt::format("<p>Options that differ: {}{}.</p>\n",
                                          escaped(fmt::format("{}", fmt::join(options, ", "))),
                                          varied.size() > options.size() ? ", and others" : "");
    body_ +=
        "<div class=\"scroll\"><table class=\"runs\">\n<caption>Figures of the test split</caption>\n<thead><tr><th "
        "scope=\"col\">run</th>";
    for (const auto& option : options) body_ += fmt::format("<th scope=\"col\">{}</th>", escaped(option));
    for (const auto& key : names)
      body_ += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", escaped(figure_words(key)));
    body_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      body_ += fmt::format("<tr><th scope=\"row\"><a href=\"#run-{}\">{}</a></th>", run, escaped(name(run)));
      for (const auto& option : options) {
        const auto& value = varied[option][run];
        body_ += fmt::format("<td>{}</td>", value.is_null() ? "–" : escaped(value.get<std::string>()));
      }
      for (const auto& key : names) {
        body_ += fmt::format("<td class=\"number\">{}</td>", figure(of_run(run, "/result/" + key), unit_of(key)));
      }
      body_ += "</tr>\n";
    }
    for (const auto& [word, key] : {std::pair{"mean", "mean"}, std::pair{"standard deviation", "std"}}) {
      body_ += fmt::format("<tr class=\"total\"><th scope=\"row\"{}>{}</th>",
                           options.empty() ? "" : fmt::format(" colspan=\"{}\"", options.size() + 1), word);
      for (const auto& name : names) {
        body_ += fmt::format("<td class=\"number\">{}</td>",
                             figure(fmt::format("/summary/{}/{}", name, key), unit_of(name)));
      }
      body_ += "</tr>\n";
    }
    body_ +=
        "</tbody></table></div>\n<p class=\"soft\">The deviation is that of the population which the runs are a sample "
        "of.</p>\n";
    std::vector<NamedLog> logs;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const auto& log = runs_[run]["log"];
      if (!log.empty()) logs.push_back({name(run), {log.begin(), log.end()}});
    }
    body_ += "<div class=\"charts\">\n";
    for (const auto& chart : overlaid_charts(logs)) add_figure(chart.title, "", chart.svg);
    body_ += "</div>\n</section>\n";
  }

  void add_figure(const std::string& title, const std::string& caption, const std::string& svg) {
    body_ += fmt::format("<figure>\n<figcaption><b>{}</b>{}{}</figcaption>\n{}</figure>\n", escaped(title),
                         caption.empty() ? "" : ". ", escaped(caption), svg);
  }

  void add_heading(const std::string& level, const std::string& text) {
    body_ += fmt::format("<{0}>{1}</{0}>\n", level, escaped(text));
  }

  // Why a part is not there; false where nothing is known of it.
  bool add_reason(std::size_t run, const std::string& part) {
    const auto& reasons = runs_[run]["left_out"];
    for (const auto& key : {part, std::string("evaluated"), std::string("data"), std::string("model")}) {
      if (!reasons.contains(key)) continue;
      body_ += fmt::format("<p class=\"soft\">{}</p>\n", word(of_run(run, "/left_out/" + key)));
      return true;
    }
    return false;
  }

  void add_run(std::size_t run, const std::string& heading, const std::string& level) {
    body_ += fmt::format("<section id=\"run-{}\">\n", run);
    if (!heading.empty()) add_heading(heading, name(run));
    add_training(run, level);
    add_curves(run, level);
    add_result(run, level);
    body_ += "<div class=\"charts\">\n<section>\n";
    add_reliability(run, level);
    body_ += "</section>\n<section>\n";
    add_confusion(run, level);
    body_ += "</section>\n</div>\n";
    add_check(run, level);
    add_found(run, level);
    body_ += "</section>\n";
  }

  void add_row(const std::string& head, const std::string& cell) {
    body_ += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"word\">{}</td></tr>\n", escaped(head), cell);
  }

  void add_training(std::size_t run, const std::string& level) {
    const auto& figures = runs_[run];
    const auto at = [&](const std::string& rest) { return of_run(run, rest); };
    add_heading(level, "What was trained, and how");
    if (figures["state"] != "finished") {
      body_ += "<p class=\"note\">This training has not come to its end: it is still running, or was stopped.</p>\n";
    }
    body_ += "<div class=\"scroll\"><table>\n<tbody>\n";
    add_row("task", fmt::format("{}: {}", word(at("/task")), word(at("/summary"))));
    add_row("preset, seed", fmt::format("{}, {}", word(at("/preset")), word(at("/seed"))));
    if (figures["model"].is_object()) {
      const auto& model = figures["model"];
      add_row("q", fmt::format("{}{}{}", word(at("/model/architecture")), model["explains"] == true ? ", explains" : "",
                               model["prunes"] == true ? ", prunes" : ""));
      add_row("worlds, outputs", fmt::format("{} and {} variables", figure(at("/model/worlds"), Unit::kCount),
                                             figure(at("/model/outputs"), Unit::kCount)));
    }
    add_row("data", word(at("/data/origin"), "not known: there is no model yet"));
    if (figures["data"].is_object()) {
      const auto& print = figures["data"]["fingerprint"];
      if (!print.empty())
        add_row("data fingerprint",
                fmt::format("<code>{}</code>", fmt::join(print.get<std::vector<std::int64_t>>(), " ")));
      if (figures["data"].contains("examples")) {
        add_row("examples",
                fmt::format("{} training, {} validation, {} test", figure(at("/data/examples/train"), Unit::kCount),
                            figure(at("/data/examples/validation"), Unit::kCount),
                            figure(at("/data/examples/test"), Unit::kCount)));
      }
    }
    if (figures["machine"].is_object()) {
      add_row("machine",
              fmt::format("{}, {} cores, {} threads; torch {}, anesi {}",
                          word(at("/machine/cpu"), "processor not known"), word(at("/machine/cores")),
                          word(at("/machine/threads")), word(at("/machine/torch")), word(at("/machine/anesi"))));
    } else {
      add_row("machine", "not recorded");
    }
    add_row("time", figures["began"].is_string()
                        ? fmt::format("{} of training, from {} to {}", figure(at("/result/seconds"), Unit::kSeconds),
                                      word(at("/began")), word(at("/ended")))
                        : fmt::format("{} of training", figure(at("/result/seconds"), Unit::kSeconds)));
    add_row("directory", fmt::format("<code>{}</code>", word(at("/directory"))));
    body_ += "</tbody></table></div>\n";
    if (figures["data"].is_object() && figures["data"].contains("same") && figures["data"]["same"] == false) {
      body_ += fmt::format(
          "<p class=\"note\">The data that were found for this report ({}) are not those of the training. What follows "
          "from "
          "them (reliability, confusion, distances, mistakes) is of these others.</p>\n",
          word(at("/data/found")));
    }
    add_options(run);
  }

  void add_options(std::size_t run) {
    const auto& changed = runs_[run]["changed"];
    if (changed.empty()) {
      body_ += "<p>All options are those of the task's first preset.</p>\n";
    } else {
      body_ +=
          "<div class=\"scroll\"><table>\n<caption>Options that are not as the task's first preset has them</caption>\n"
          "<thead><tr><th scope=\"col\">option</th><th scope=\"col\">here</th><th scope=\"col\">usually</th>"
          "<th scope=\"col\">what it is</th></tr></thead>\n<tbody>\n";
      for (std::size_t option = 0; option < changed.size(); ++option) {
        const auto at = of_run(run, fmt::format("/changed/{}", option));
        body_ += fmt::format(
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>\n",
            word(at + "/name"), word(at + "/value"), word(at + "/usual"), word(at + "/help"));
      }
      body_ += "</tbody></table></div>\n";
    }
    body_ +=
        "<details><summary>All options</summary>\n<div class=\"scroll\"><table>\n<thead><tr><th "
        "scope=\"col\">option</th>"
        "<th scope=\"col\">value</th></tr></thead>\n<tbody>\n";
    for (const auto& [option, value] : runs_[run]["options"].items()) {
      body_ += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td class=\"word\">{}</td></tr>\n",
                           escaped(option), escaped(value.is_string() ? value.get<std::string>() : value.dump()));
    }
    body_ += "</tbody></table></div></details>\n";
  }

  void add_curves(std::size_t run, const std::string& level) {
    const auto& log = runs_[run]["log"];
    add_heading(level, "Curves");
    const auto charts = training_charts({log.begin(), log.end()});
    if (charts.empty()) {
      body_ += "<p class=\"soft\">There is no log of this training, or nothing in it yet.</p>\n";
      return;
    }
    body_ += "<div class=\"charts\">\n";
    for (const auto& chart : charts) add_figure(chart.title, "", chart.svg);
    body_ += "</div>\n<p class=\"soft\">Dotted lines show where a phase of training begins.</p>\n";
    // Whatever has a number in some row.
    std::vector<std::string> names;
    for (const auto& row : log) {
      for (const auto& name : figure_names(row)) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
    body_ +=
        "<details><summary>Numbers of the curves</summary>\n<div class=\"scroll\"><table>\n<caption>The log, a row for "
        "every evaluation</caption>\n<thead><tr><th scope=\"col\">phase</th>";
    for (const auto& name : names)
      body_ += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", escaped(figure_words(name)));
    body_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < log.size(); ++row) {
      const auto at = of_run(run, fmt::format("/log/{}", row));
      body_ += fmt::format("<tr><th scope=\"row\">{}</th>", word(at + "/phase"));
      for (const auto& name : names) {
        const bool counts = name == "epoch" || name == "step" || name == "grown";
        const auto unit = counts ? Unit::kCount : name.ends_with("loss") ? Unit::kNats : unit_of(name);
        body_ += fmt::format("<td class=\"number\">{}</td>", figure(at + pointer_of(name), unit));
      }
      body_ += "</tr>\n";
    }
    body_ += "</tbody></table></div></details>\n";
  }

  void add_result(std::size_t run, const std::string& level) {
    add_heading(level, "Figures of the test split");
    const bool finished = runs_[run]["result"].is_object();
    const std::string part = finished ? "/result" : "/evaluated";
    const auto& figures = runs_[run][finished ? "result" : "evaluated"];
    if (!figures.is_object()) {
      add_reason(run, "evaluated");
      return;
    }
    body_ +=
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">figure</th><th scope=\"col\" "
        "class=\"number\">value</th><th scope=\"col\">what it is</th></tr></thead>\n<tbody>\n";
    auto names = figure_names(figures);
    const auto headline = std::ranges::find(names, "accuracy");
    if (headline != names.end()) std::rotate(names.begin(), headline, headline + 1);
    for (const auto& name : names) {
      const bool before = name.starts_with("unrefined.");
      const auto meaning = meanings().find(before ? name.substr(10) : name);
      const auto words = name == "accuracy"            ? fmt::format("what this task counts as right (eval.decide={})",
                                                                     runs_[run]["decide"].get<std::string>())
                         : meaning == meanings().end() ? ""
                         : before                      ? meaning->second + ", before perception was refined"
                                                       : meaning->second;
      body_ += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"word\">{}</td></tr>\n",
                           escaped(figure_words(name)), figure(of_run(run, part + pointer_of(name)), unit_of(name)),
                           escaped(words));
    }
    body_ += "</tbody></table></div>\n";
  }

  void add_reliability(std::size_t run, const std::string& level) {
    add_heading(level, "Can its confidence be trusted?");
    const auto& reliability = runs_[run]["reliability"];
    if (!reliability.is_object()) {
      add_reason(run, "reliability");
      return;
    }
    ReliabilityChart chart{.title = "Reliability diagram of q",
                           .description = "Share that is right against confidence, in 15 bins.",
                           .bins = {}};
    for (const auto& bin : reliability["bins"]) {
      chart.bins.push_back({.low = bin["low"],
                            .high = bin["high"],
                            .confidence = bin["confidence"],
                            .right = bin["right"],
                            .examples = bin["examples"]});
    }
    const auto at = of_run(run, "/reliability");
    body_ += fmt::format(
        "<p>Where q is 90 % sure, 90 % should be right. Expected calibration error: {} over {} test examples.</p>\n",
        figure(at + "/ece", Unit::kNats), figure(at + "/examples", Unit::kCount));
    add_figure("Reliability diagram", "", to_svg(chart));
    body_ +=
        "<details><summary>Numbers of the diagram</summary>\n<div class=\"scroll\"><table>\n<thead><tr><th "
        "scope=\"col\" "
        "class=\"number\">from</th><th scope=\"col\" class=\"number\">to</th><th scope=\"col\" "
        "class=\"number\">examples</th><th scope=\"col\" class=\"number\">confidence</th><th scope=\"col\" "
        "class=\"number\">right</th></tr></thead>\n<tbody>\n";
    for (std::size_t bin = 0; bin < chart.bins.size(); ++bin) {
      const auto place = fmt::format("{}/bins/{}", at, bin);
      body_ += fmt::format("<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>",
                           figure(place + "/low", Unit::kShare), figure(place + "/high", Unit::kShare),
                           figure(place + "/examples", Unit::kCount));
      const bool empty = chart.bins[bin].examples == 0;
      for (const auto* key : {"/confidence", "/right"}) {
        body_ += fmt::format("<td class=\"number\">{}</td>", empty ? "–" : figure(place + key, Unit::kShare));
      }
      body_ += "</tr>\n";
    }
    body_ += "</tbody></table></div></details>\n";
  }

  void add_confusion(std::size_t run, const std::string& level) {
    add_heading(level, "Which values it takes for which");
    const auto& confusion = runs_[run]["confusion"];
    if (!confusion.is_object()) {
      add_reason(run, "confusion");
      return;
    }
    const ConfusionChart chart{.title = "Confusion of world values",
                               .description = "Rows are true values, columns what was read.",
                               .values = confusion["values"],
                               .counts = confusion["counts"]};
    add_figure("World values of the test split",
               fmt::format("Rows are true values, columns what was read; the darker, the larger a share of its row.{}",
                           confusion["renamed"].is_null()
                               ? ""
                               : " Names of values are perception's own choice, so they are renamed to agree best."),
               to_svg(chart));
    body_ +=
        "<details><summary>Numbers of the matrix</summary>\n<div class=\"scroll\"><table>\n<thead><tr><th "
        "scope=\"col\">true "
        "value</th>";
    for (const auto& value : chart.values)
      body_ += fmt::format("<th scope=\"col\" class=\"number\">read {}</th>", escaped(value));
    body_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t truth = 0; truth < chart.values.size(); ++truth) {
      body_ += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(chart.values[truth]));
      for (std::size_t read = 0; read < chart.values.size(); ++read) {
        body_ += fmt::format("<td class=\"number\">{}</td>",
                             figure(of_run(run, fmt::format("/confusion/counts/{}/{}", truth, read)), Unit::kCount));
      }
      body_ += "</tr>\n";
    }
    body_ += "</tbody></table></div></details>\n";
  }

  void add_check(std::size_t run, const std::string& level) {
    add_heading(level, "Distance from exact inference");
    const auto& check = runs_[run]["check"];
    if (!check.is_object()) {
      add_reason(run, "check");
      return;
    }
    struct Line {
      std::string at, name, words;
      Unit unit;
    };
    const std::vector<Line> lines{
        {"/tv_perceived", "total variation, perceived", "between q and exact inference, on what perception believes",
         Unit::kDistance},
        {"/kl_perceived", "KL divergence, perceived", "in nats, likewise", Unit::kDistance},
        {"/tv_prior", "total variation, prior", "on beliefs of a prior", Unit::kDistance},
        {"/kl_prior", "KL divergence, prior", "in nats, likewise", Unit::kDistance},
        {"/tv_degenerate", "total variation, degenerate", "on beliefs that know nothing, or everything",
         Unit::kDistance},
        {"/certificate_perceived/mean", "certificate, perceived",
         "total variation is at most this in the mean, whatever the exact answer is; ± its 95 % confidence interval",
         Unit::kDistance},
        {"/certificate_prior/mean", "certificate, prior", "the same on beliefs of a prior", Unit::kDistance},
        {"/certificate_found/bound", "certificate of what was found",
         "share of perceived worlds on which it differs from the function, at most (95 %)", Unit::kSmall},
        {"/mpe_agreement", "explanations", "whose most probable world is the exact one", Unit::kShare},
        {"/satisfied", "guarantee", "sampled worlds that give the predicted output", Unit::kShare},
        {"/false_prunes", "learned pruning", "true worlds that a threshold on q would lose", Unit::kShare},
        {"/search_ms", "search", "median time to find the most probable world behind the asked output",
         Unit::kMilliseconds}};
    // Of a certificate: half the width of its confidence interval.
    const auto margin_of = [&](const std::string& at) {
      return at.ends_with("/mean") ? " ± " + figure(at.substr(0, at.size() - 4) + "margin", Unit::kDistance) : "";
    };
    std::string rows;
    for (const auto& line : lines) {
      const auto at = of_run(run, "/check" + line.at);
      const auto place = nlohmann::ordered_json::json_pointer(at);
      if (!all_.contains(place) || !all_[place].is_number()) continue;
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"word\">{}</td></tr>\n",
                          line.name, figure(at, line.unit) + margin_of(at), line.words);
    }
    if (rows.empty()) {
      body_ += "<p class=\"soft\">No exact inference is at hand for this problem, and q has no certificate.</p>\n";
    } else {
      body_ += fmt::format(
          "<p>As <code>anesi check</code> measures it, on {} beliefs.{}</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
          "<th scope=\"col\">figure</th><th scope=\"col\" class=\"number\">value</th><th scope=\"col\">what it "
          "is</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
          figure(of_run(run, "/check/beliefs"), Unit::kCount),
          check["exploitable"] == true ? " <b>Some mistake costs q no more than the truth: perception may learn it.</b>"
                                       : "",
          rows);
    }
    body_ += "<details><summary>All that the doctor said</summary>\n<ul>\n";
    for (const auto& note : check["notes"]) body_ += fmt::format("<li>{}</li>\n", escaped(note.get<std::string>()));
    body_ += "</ul></details>\n";
  }

  void add_found(std::size_t run, const std::string& level) {
    add_heading(level, "What discovery found");
    const auto& found = runs_[run]["found"];
    if (!found.is_object()) {
      add_reason(run, "found");
      return;
    }
    const auto at = of_run(run, "/found");
    body_ += fmt::format("<p>{}</p>\n", word(at + "/summary"));
    if (found.contains("not_drawn"))
      body_ += fmt::format("<p class=\"soft\">The machine {}.</p>\n", word(at + "/not_drawn"));
    if (report_.machines[run].empty()) return;
    body_ += fmt::format(
        "<figure>\n<figcaption><b>The machine</b>, with at most {} states at a time.</figcaption>\n<div "
        "class=\"scroll\"><img class=\"machine\" "
        "alt=\"The machine that was found: states from left to right, edges say what is read and emitted.\" "
        "src=\"{}\"></div>\n</figure>\n",
        figure(at + "/widest", Unit::kCount), svg_uri(report_.machines[run]));
  }

  void add_mistakes() {
    const auto& mistakes = all_["mistakes"];
    body_ += "<section id=\"mistakes\">\n<h2>The most confident mistakes</h2>\n";
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (runs_[run]["wrong"].is_null() || runs_[run]["judged"] == 0) {
        if (runs_.size() == 1) add_reason(run, "mistakes");
        continue;
      }
      if (runs_.size() > 1) continue;
      body_ += fmt::format(
          "<p>{} of {} test examples are predicted wrong. These are the ones that the model is surest of.</p>\n",
          figure(of_run(run, "/wrong"), Unit::kCount), figure(of_run(run, "/judged"), Unit::kCount));
    }
    if (runs_.size() > 1 && !mistakes.empty())
      body_ += "<p>Of all runs together, those that a model is surest of.</p>\n";
    if (mistakes.empty() && runs_.size() > 1)
      body_ += "<p class=\"soft\">There are none, or no model to make them.</p>\n";
    body_ += "<ol class=\"mistakes\">\n";
    for (std::size_t index = 0; index < mistakes.size(); ++index) add_mistake(index);
    body_ += "</ol>\n</section>\n";
  }

  void add_mistake(std::size_t index) {
    const auto& mistake = all_["mistakes"][index];
    const auto at = fmt::format("/mistakes/{}", index);
    const auto& picture = report_.pictures[index];
    const auto of = runs_.size() == 1 ? "" : fmt::format(" of {}", escaped(name(mistake["run"].get<std::size_t>())));
    constexpr std::size_t kLongestRead = 60;  // what is longer is laid out below
    const auto read =
        mistake["read"].get_ref<const std::string&>().size() > kLongestRead ? "" : "; read " + word(at + "/read");
    body_ += fmt::format("<li>\n<h3>Predicted {} with {}, label {}</h3>\n<p class=\"soft\">Test example {}{}{}.</p>\n",
                         word(at + "/predicted"), figure(at + "/probability", Unit::kShare), word(at + "/label"),
                         figure(at + "/index", Unit::kCount), of, read);
    if (!picture.uri.empty()) {
      const auto size =
          picture.width == 0 ? "" : fmt::format(" width=\"{}\" height=\"{}\"", picture.width, picture.height);
      body_ += fmt::format("<div class=\"scroll\"><img{} alt=\"The input of test example {}\" src=\"{}\"></div>\n",
                           size, mistake["index"].dump(), picture.uri);
    }
    if (mistake.contains("no_picture")) body_ += fmt::format("<p class=\"soft\">{}</p>\n", word(at + "/no_picture"));
    if (mistake.contains("input")) {
      body_ += fmt::format("<p class=\"soft\">Input: <code>{:.3g}</code></p>\n",
                           fmt::join(mistake["input"].get<std::vector<double>>(), " "));
    }
    if (mistake.contains("text")) {
      body_ += fmt::format("<details open><summary>Why</summary><pre>{}</pre></details>\n",
                           escaped_lines(mistake["text"].get<std::string>()));
    }
    if (mistake.contains("text_of_label")) {
      body_ += fmt::format("<details><summary>What the label would have taken</summary><pre>{}</pre></details>\n",
                           escaped_lines(mistake["text_of_label"].get<std::string>()));
    }
    if (mistake.contains("not_explained")) {
      body_ += fmt::format("<p class=\"soft\">Not explained: {}</p>\n", word(at + "/not_explained"));
    }
    body_ += "</li>\n";
  }

  // Nothing in it ends the element that it stands in.
  std::string json_for_html() const {
    const auto text = all_.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
    std::string safe;
    for (const char letter : text) safe += letter == '<' ? "\\u003c" : std::string(1, letter);
    return safe;
  }

  const Report& report_;
  const Figures& all_;
  const Figures& runs_;
  std::string body_;
};

}  // namespace

std::string report_html(const Report& report) { return Page(report).html(); }

}  // namespace anesi

// The sections of a report about one run, from what was trained to what discovery found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/report/chart.h"
#include "anesi/report/figure_text.h"
#include "anesi/report/input_picture.h"
#include "anesi/report/report_page.h"
#include "anesi/report/training_charts.h"
#include "anesi/run/summary.h"

namespace anesi {

void ReportPage::add_run(std::size_t run, const std::string& heading, const std::string& level) {
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

void ReportPage::add_row(const std::string& head, const std::string& cell) {
  body_ += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"word\">{}</td></tr>\n", escaped(head), cell);
}

void ReportPage::add_training(std::size_t run, const std::string& level) {
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
            fmt::format("{}, {} cores, {} threads; torch {}, anesi {}", word(at("/machine/cpu"), "processor not known"),
                        word(at("/machine/cores")), word(at("/machine/threads")), word(at("/machine/torch")),
                        word(at("/machine/anesi"))));
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

void ReportPage::add_options(std::size_t run) {
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
    body_ += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td class=\"word\">{}</td></tr>\n", escaped(option),
                         escaped(value.is_string() ? value.get<std::string>() : value.dump()));
  }
  body_ += "</tbody></table></div></details>\n";
}

void ReportPage::add_curves(std::size_t run, const std::string& level) {
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

void ReportPage::add_result(std::size_t run, const std::string& level) {
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
    const auto meaning = meaning_of(before ? name.substr(10) : name);
    const auto words = name == "accuracy"           ? fmt::format("what this task counts as right (eval.decide={})",
                                                                  runs_[run]["decide"].get<std::string>())
                       : before && !meaning.empty() ? meaning + ", before perception was refined"
                                                    : meaning;
    body_ += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"word\">{}</td></tr>\n",
                         escaped(figure_words(name)), figure(of_run(run, part + pointer_of(name)), unit_of(name)),
                         escaped(words));
  }
  body_ += "</tbody></table></div>\n";
}

void ReportPage::add_reliability(std::size_t run, const std::string& level) {
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

void ReportPage::add_confusion(std::size_t run, const std::string& level) {
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

void ReportPage::add_check(std::size_t run, const std::string& level) {
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
      {"/tv_degenerate", "total variation, degenerate", "on beliefs that know nothing, or everything", Unit::kDistance},
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

void ReportPage::add_found(std::size_t run, const std::string& level) {
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

}  // namespace anesi

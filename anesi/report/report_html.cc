#include "anesi/report/report_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/report/figure_text.h"
#include "anesi/report/report_page.h"
#include "anesi/report/report_style.h"
#include "anesi/report/training_charts.h"
#include "anesi/run/summary.h"

namespace anesi {

std::string ReportPage::html() {
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

std::string ReportPage::figure(const std::string& at, Unit unit) const {
  const auto place = nlohmann::ordered_json::json_pointer(at);
  if (!all_.contains(place) || !all_[place].is_number()) return "<span title=\"does not apply\">–</span>";
  const auto& value = all_[place];
  return fmt::format("<data value=\"{}\" data-at=\"{}\">{}</data>", value.dump(), escaped(at),
                     in_unit(value.get<double>(), unit));
}

std::string ReportPage::word(const std::string& at, const std::string& otherwise) const {
  const auto place = nlohmann::ordered_json::json_pointer(at);
  if (!all_.contains(place) || all_[place].is_null()) return escaped(otherwise);
  const auto& value = all_[place];
  return escaped(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string ReportPage::of_run(std::size_t run, const std::string& rest) {
  return fmt::format("/runs/{}{}", run, rest);
}

std::string ReportPage::name(std::size_t run) const { return runs_[run]["name"].get<std::string>(); }

std::string ReportPage::title() const {
  return runs_.size() == 1 ? fmt::format("{}: {}", runs_[0]["task"].get<std::string>(), name(0))
                           : fmt::format("{}: {} runs", runs_[0]["task"].get<std::string>(), runs_.size());
}

std::string ReportPage::header() const {
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

std::string ReportPage::footer() const {
  return fmt::format(
      "<footer class=\"soft\"><p>Made by anesi {} at {}. All figures are in this file as JSON too: "
      "<code>document.getElementById('figures')</code>.</p></footer>\n",
      word("/anesi"), word("/made"));
}

std::string ReportPage::tiles(const std::string& at, const Figures& figures) const {
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

void ReportPage::add_comparison() {
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
      body_ +=
          fmt::format("<td class=\"number\">{}</td>", figure(fmt::format("/summary/{}/{}", name, key), unit_of(name)));
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

void ReportPage::add_figure(const std::string& title, const std::string& caption, const std::string& svg) {
  body_ += fmt::format("<figure>\n<figcaption><b>{}</b>{}{}</figcaption>\n{}</figure>\n", escaped(title),
                       caption.empty() ? "" : ". ", escaped(caption), svg);
}

void ReportPage::add_heading(const std::string& level, const std::string& text) {
  body_ += fmt::format("<{0}>{1}</{0}>\n", level, escaped(text));
}

bool ReportPage::add_reason(std::size_t run, const std::string& part) {
  const auto& reasons = runs_[run]["left_out"];
  for (const auto& key : {part, std::string("evaluated"), std::string("data"), std::string("model")}) {
    if (!reasons.contains(key)) continue;
    body_ += fmt::format("<p class=\"soft\">{}</p>\n", word(of_run(run, "/left_out/" + key)));
    return true;
  }
  return false;
}

void ReportPage::add_mistakes() {
  const auto& mistakes = all_["mistakes"];
  body_ += "<section id=\"mistakes\">\n<h2>The most confident mistakes</h2>\n";
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run]["wrong"].is_null() || runs_[run]["judged"] == 0) {
      if (runs_.size() == 1) add_reason(run, "mistakes");
      continue;
    }
    if (runs_.size() > 1) continue;
    body_ += fmt::format(
        "<p>{} of {} test examples are predicted wrong, as <code>anesi predict</code> predicts them. These are the "
        "ones that "
        "the model is surest of.</p>\n",
        figure(of_run(run, "/wrong"), Unit::kCount), figure(of_run(run, "/judged"), Unit::kCount));
  }
  if (runs_.size() > 1 && !mistakes.empty()) body_ += "<p>Of all runs together, those that a model is surest of.</p>\n";
  if (mistakes.empty() && runs_.size() > 1)
    body_ += "<p class=\"soft\">There are none, or no model to make them.</p>\n";
  body_ += "<ol class=\"mistakes\">\n";
  for (std::size_t index = 0; index < mistakes.size(); ++index) add_mistake(index);
  body_ += "</ol>\n</section>\n";
}

void ReportPage::add_mistake(std::size_t index) {
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
    body_ += fmt::format("<div class=\"scroll\"><img{} alt=\"The input of test example {}\" src=\"{}\"></div>\n", size,
                         mistake["index"].dump(), picture.uri);
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

std::string ReportPage::json_for_html() const {
  const auto text = all_.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  std::string safe;
  for (const char letter : text) safe += letter == '<' ? "\\u003c" : std::string(1, letter);
  return safe;
}

std::string report_html(const Report& report) { return ReportPage(report).html(); }

}  // namespace anesi

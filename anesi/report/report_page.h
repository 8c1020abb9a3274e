// The page of a report while it is being written. Only report_html.cc and run_sections.cc need it: others call
// report_html().
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "anesi/report/figure_text.h"
#include "anesi/report/run_figures.h"

namespace anesi {

// Parts are added to the page one after another. Nothing is computed here: every number comes from the report's JSON,
// and a place in that JSON is named by a pointer, "/runs/0/result/accuracy".
class ReportPage {
 public:
  // The report outlives it.
  explicit ReportPage(const Report& report) : report_(report), all_(report.figures), runs_(all_["runs"]) {}

  // The whole page; called once.
  std::string html();

 private:
  using Figures = nlohmann::ordered_json;

  // The figure at a place of the JSON, as people read it.
  std::string figure(const std::string& at, Unit unit) const;
  // A word of the JSON, or what stands there otherwise.
  std::string word(const std::string& at, const std::string& otherwise = "–") const;
  static std::string of_run(std::size_t run, const std::string& rest);
  std::string name(std::size_t run) const;

  // The frame, and what is said of all runs together: report_html.cc.
  std::string title() const;
  std::string header() const;
  std::string footer() const;
  // The headline figures.
  std::string tiles(const std::string& at, const Figures& figures) const;
  // Mean and deviation over the runs, and which options differ.
  void add_comparison();
  void add_mistakes();
  void add_mistake(std::size_t index);
  // Nothing in it ends the element that it stands in.
  std::string json_for_html() const;

  void add_figure(const std::string& title, const std::string& caption, const std::string& svg);
  void add_heading(const std::string& level, const std::string& text);
  // Why a part is not there; false where nothing is known of it.
  bool add_reason(std::size_t run, const std::string& part);

  // The sections of one run, under headings of that level, "h2": run_sections.cc.
  void add_run(std::size_t run, const std::string& heading, const std::string& level);
  void add_row(const std::string& head, const std::string& cell);
  void add_training(std::size_t run, const std::string& level);
  void add_options(std::size_t run);
  void add_curves(std::size_t run, const std::string& level);
  void add_result(std::size_t run, const std::string& level);
  void add_reliability(std::size_t run, const std::string& level);
  void add_confusion(std::size_t run, const std::string& level);
  void add_check(std::size_t run, const std::string& level);
  void add_found(std::size_t run, const std::string& level);

  const Report& report_;
  const Figures& all_;
  const Figures& runs_;
  std::string body_;
};

}  // namespace anesi

// How training went, as charts of a run's log (log.jsonl), for the report and for the page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace anesi {

using LogRow = nlohmann::ordered_json;  // a line of log.jsonl

// A chart, and its numbers as the log has them.
struct TrainingChart {
  std::string title;
  std::string svg;
  struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<nlohmann::ordered_json>> rows;  // one value a column; null where there is none
  } table;
};

// Loss, accuracy and likelihood over training time, phase by phase; those of which the log has figures. None where the
// log is empty. Rows may come from any file: what has another type than the log's is passed over.
std::vector<TrainingChart> training_charts(const std::vector<LogRow>& log);

// Several runs over each other: loss and accuracy of each. Where all of them were evaluated at the same epochs, their
// mean and deviation too, over epochs; else over training time.
struct NamedLog {
  std::string name;
  std::vector<LogRow> log;
};
std::vector<TrainingChart> overlaid_charts(const std::vector<NamedLog>& runs);

// A figure's name as people read it: "q_loss" is "loss of q", "per_variable" is "per variable".
std::string figure_words(const std::string& key);

}  // namespace anesi

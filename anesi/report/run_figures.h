// Everything that is known of runs, for a report: what was trained and how, how it went, and how good the model is.
//
// What the run's directory does not tell is computed from the saved model on the test split: how far its confidences
// can be trusted, which values it takes for which, how far q is from exact inference, and where it is surely wrong.
// Where something does not apply, or the data are not there, the figures say why in a sentence (`left_out`) and the
// rest goes on. Directories are only read: a run that is still training can be reported too. Since reports are sent,
// nothing in them says where on this machine something is: of a path only its last name is told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "anesi/check/run_check.h"
#include "anesi/report/input_picture.h"
#include "anesi/tasks/task.h"

namespace anesi {

struct ReportOptions {
  std::int64_t mistakes = 10;                           // that are shown, the surest first
  CheckOptions check = {.beliefs = 50, .samples = 20};  // of the doctor: seconds, not minutes
  std::size_t picture_bytes = 3'500'000;                // of all pictures of mistakes together
};

struct Report {
  nlohmann::ordered_json figures;       // docs/report.md says which; what `anesi report --json` prints
  std::vector<ReportPicture> pictures;  // of figures["mistakes"]
  std::vector<std::string> machines;    // of figures["runs"]: what discovery found, drawn as SVG; "" where nothing was
};

// Of these runs, in this order. `context` says where data are, and is told in a line what is being done. Throws
// UsageError where a directory holds no run, and Error where its configuration, log or result is damaged.
Report make_report(const std::vector<std::filesystem::path>& runs, const TaskContext& context,
                   const ReportOptions& options = {});

}  // namespace anesi

// What a run directory tells, for those who only read it: of a run that is finished, was stopped or is still training.
//
// Nothing is locked or changed, so it may be read while another process trains (run.h is for that process).
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "anesi/run/configuration.h"

namespace anesi {

struct RunRecord {
  std::filesystem::path directory;
  std::unique_ptr<Configuration> configuration;
  std::vector<nlohmann::ordered_json> log;       // the objects of log.jsonl; a last line that is cut short is left out
  std::optional<nlohmann::ordered_json> result;  // result.json; empty where the run is not finished
  bool has_model = false;

  // Of the directory, "four".
  std::string name() const;
};

// Throws UsageError where there is no run, and Error where a file of it is damaged.
RunRecord read_run_record(const std::filesystem::path& directory);

// The lines of log.jsonl; none where there is no log yet.
std::vector<nlohmann::ordered_json> read_log(const std::filesystem::path& directory);

// result.json; empty where the run is not finished.
std::optional<nlohmann::ordered_json> read_result(const std::filesystem::path& directory);

// The directories of runs that these name: each is a run itself, or a folder of runs as `anesi repeat` leaves one,
// whose runs come in the order of their names, numbers in them by value. Throws UsageError where one is neither.
std::vector<std::filesystem::path> run_directories(const std::vector<std::string>& names);

}  // namespace anesi

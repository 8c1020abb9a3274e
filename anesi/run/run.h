// A run directory: what `anesi train` leaves behind.
//
//   config.toml   all that is needed to repeat it, but for the data
//   log.jsonl     a line for every evaluation; log.csv holds the same for spreadsheets
//   model/        the trained model (predict/saved_model.h)
//   found.safetensors  what was found out about c by asking it, where it was asked
//   checkpoint/   the trainer's state, replaced atomically
//   result.json   once it is finished: figures of the test split
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "anesi/io/files.h"
#include "anesi/run/configuration.h"
#include "anesi/run/training.h"

namespace anesi {

class Run {
 public:
  // A new run in a directory that holds none yet. Throws Error where one is there or another process writes to it.
  static Run create(const std::filesystem::path& directory, const Configuration& configuration);
  // A run that is there, to go on with.
  static Run open(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path model() const { return directory_ / "model"; }
  std::unique_ptr<Configuration> configuration() const;

  // What was found out about c; nothing where it was not asked.
  void save_found(const Training& training) const;
  std::optional<Training::Found> found() const;

  // With the options it was trained under.
  void save_checkpoint(const Training& training) const;
  // Says which options were edited since the checkpoint was saved. Throws Error where what it holds would be the result
  // of no configuration (option_changes.h).
  void check_edits(const Configuration& configuration, const Say& say) const;
  // False where there is none yet. The logs then end where they did when it was saved. Throws Error where it is
  // damaged, or of other data or another configuration.
  bool load_checkpoint(Training& training) const;

  void save_result(const nlohmann::ordered_json& figures) const;
  // Empty where the run is not finished.
  std::optional<nlohmann::ordered_json> result() const;

  // Adds a line to log.jsonl and log.csv. A checkpoint that is saved after it remembers the line.
  void log(const Progress& progress, const std::optional<Evaluation>& evaluation) const;

 private:
  Run(std::filesystem::path directory, DirectoryLock lock) : directory_(std::move(directory)), lock_(std::move(lock)) {}

  void cut_logs(const std::map<std::string, std::string>& words) const;

  std::filesystem::path directory_;
  DirectoryLock lock_;
};

// For those who only look at a run, which another process may be training: nothing is locked, removed or written.
std::unique_ptr<Configuration> run_configuration(const std::filesystem::path& directory);
// What was found out about c; nothing where it was not asked.
std::optional<Training::Found> found_in_run(const std::filesystem::path& directory);
// The training as it was when the checkpoint was saved. False where there is none. Throws Error as
// Run::load_checkpoint does.
bool load_checkpoint_of(const std::filesystem::path& directory, Training& training);

// Makes runs/NAME-1, runs/NAME-2, … : the first that does not exist.
std::filesystem::path fresh_run_directory(const std::string& name);

// The keys that other programs read; null where a figure does not apply.
nlohmann::ordered_json to_json(const Evaluation& evaluation);

}  // namespace anesi

// A run as it is now: the model that training has come to, its data, and what is told of it.
//
// Nothing is written, and no lock is held: a training that goes on in the same directory does not notice. The model is
// the finished one or, while a run is being trained, that of the last checkpoint; another thread looks twice a second
// whether there is a newer one. What is taken from here is constant and stays as it was when the next one comes.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "anesi/answers/answers.h"
#include "anesi/run/configuration.h"
#include "anesi/run/training.h"
#include "anesi/serve/question.h"

namespace anesi::serve {

// Some examples of a split, of those that were looked at so far.
struct ExampleRows {
  std::int64_t total = 0, looked_at = 0, of = 0;           // that pass the filter; that could; in the split
  std::vector<std::pair<std::int64_t, Judged>> rows = {};  // by index
};

// A model and its data. Constant but for what was looked at; may be asked from several threads.
class ServedModel {
 public:
  // Of a finished run, or of a checkpoint with its training.
  ServedModel(std::int64_t number, std::unique_ptr<const Configuration> configuration, Task task,
              std::unique_ptr<const Training> training, std::optional<Predictor> predictor,
              std::shared_ptr<const Splits> data);
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  std::int64_t number() const { return number_; }
  const Configuration& configuration() const { return *configuration_; }
  const Predictor& predictor() const { return predictor_; }
  const Presentation& presentation() const { return *task_.presentation; }
  const Answers& answers() const { return answers_; }
  const Splits& data() const { return *data_; }
  const std::shared_ptr<const Splits>& shared_data() const { return data_; }
  // Null where the split is empty.
  const Examples* split(const std::string& name) const;

  // Of those that were looked at so far. Asks for the rest of the split to be looked at.
  ExampleRows rows(const AskExamples& asked) const;
  // Looks at some more examples of a split that was asked about. False where there is nothing to look at.
  bool look_on() const;

 private:
  struct LookedAt {
    std::vector<Judged> rows = {};  // of the first examples
    std::int64_t of = 0;
  };

  std::int64_t number_;
  std::unique_ptr<const Configuration> configuration_;
  Task task_;
  std::unique_ptr<const Training> training_;  // what a checkpoint's predictor is part of
  Predictor predictor_;
  Answers answers_;
  std::shared_ptr<const Splits> data_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, LookedAt> looked_at_;
};

class ServedRun {
 public:
  // Of a run's directory, or a model's. Loads what is there. Throws UsageError where that is no run, Error where a
  // model is damaged.
  ServedRun(std::filesystem::path directory, TaskContext context);
  ~ServedRun();
  ServedRun(const ServedRun&) = delete;
  ServedRun& operator=(const ServedRun&) = delete;

  const std::filesystem::path& directory() const { return directory_; }
  std::string name() const;   // the directory's own, without those above it
  std::string state() const;  // "training", "finished" or "stopped"
  // Null where there is none yet.
  std::shared_ptr<const ServedModel> model() const;
  // The configuration's task and preset, also where there is no model yet.
  std::string task() const { return task_; }
  std::string preset() const { return preset_; }
  // Null where training has not finished.
  nlohmann::ordered_json result() const;
  // The figures of `anesi report --json`. They take some seconds and are made in the background, once a model: null
  // until they are there.
  nlohmann::ordered_json report() const;
  // The whole lines of log.jsonl. A line that is no JSON is null.
  std::vector<nlohmann::ordered_json> log() const;

 private:
  using Stamp = std::string;  // tells a file apart from the one that is later in its place
  static Stamp stamp_of(const std::filesystem::path& path);
  struct Source {
    bool checkpoint = false;
    Stamp stamp = {};  // empty: there is no model
  };
  Source source() const;
  void load(const Source& source);
  std::shared_ptr<const ServedModel> load_saved(std::int64_t number) const;
  std::shared_ptr<const ServedModel> load_checkpoint(std::int64_t number) const;
  void watch();
  void look();
  void make_report_if_asked(const std::shared_ptr<const ServedModel>& model);

  std::filesystem::path directory_;
  TaskContext context_;
  std::string task_, preset_;
  Source loaded_;  // of the watcher alone, after construction
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::shared_ptr<const ServedModel> model_;
  mutable bool report_asked_ = false;
  struct {
    std::int64_t model = -1;
    nlohmann::ordered_json figures = {};
  } report_;
  std::thread watcher_, looker_;
};

}  // namespace anesi::serve

// The JSON interface (docs/page.md): a question and a run give an answer.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "anesi/serve/compute_threads.h"
#include "anesi/serve/question.h"
#include "anesi/serve/served_run.h"
#include "anesi/serve/server.h"

namespace anesi::serve {

// May be asked from several threads at once.
class Api {
 public:
  // Both outlive it. `page`: a folder to take the page's files from, in place of those in the program.
  Api(const ServedRun& run, ComputeThreads& threads, std::optional<std::filesystem::path> page = {})
      : run_(run), threads_(threads), page_(std::move(page)) {}

  // Of a request whose head is in order (check_head). Never throws: what goes wrong is an answer too, and none of them
  // names a place of this machine.
  HttpAnswer answer(const HttpRequest& request) const;

  // The answer as JSON. Throws Refusal, and Error as `Answers` does.
  nlohmann::ordered_json json(const Question& question) const;

 private:
  struct Swatches {
    std::int64_t model = 0;
    nlohmann::ordered_json json = {};
  };

  std::shared_ptr<const ServedModel> model() const;
  nlohmann::ordered_json of(const AskFile& asked) const;
  nlohmann::ordered_json of(const AskRun& asked) const;
  nlohmann::ordered_json of(const AskExamples& asked) const;
  nlohmann::ordered_json of(const AskInput& asked) const;
  nlohmann::ordered_json of(const AskSwatches& asked) const;
  nlohmann::ordered_json of(const AskPredict& asked) const;
  nlohmann::ordered_json of(const AskExplain& asked) const;
  nlohmann::ordered_json of(const AskCondition& asked) const;
  nlohmann::ordered_json of(const AskRollout& asked) const;
  nlohmann::ordered_json of(const AskTraining& asked) const;
  nlohmann::ordered_json of(const AskReport& asked) const;
  std::string without_places(const std::string& message) const;

  const ServedRun& run_;
  ComputeThreads& threads_;
  std::optional<std::filesystem::path> page_;
  mutable std::mutex mutex_;
  mutable Swatches swatches_;
};

}  // namespace anesi::serve

// What a trained model says of one input, in words for people and as JSON for programs: what `anesi predict` and `anesi
// explain` print, and what the page and other programs are told.
//
//   const Answers answers(run.predictor, run.presentation(), "mnist-add");
//   const auto input = answers.example(*data.test, 7);
//   answers.predict(input, 5).json                                  // as of `anesi predict --json`
//   answers.tell(input, answers.explain(input, {.output = "135"}))  // as of `anesi explain`
//
// Keys of the JSON are what other programs rely on (docs/compatibility.md).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "anesi/predict/predictor.h"
#include "anesi/tasks/presentation.h"
#include "anesi/tensors/examples.h"

namespace anesi {

// One input to ask about, with what is believed of it.
struct AskedInput {
  torch::Tensor inputs;                    // [1, …]
  torch::Tensor beliefs;                   // [1, worlds, domain]
  std::optional<Observations> label = {};  // none where nobody knows
};

struct Answer {
  nlohmann::ordered_json json;
  std::string text;  // lines
};

// An output as somebody asks for it: as people write it, or its values.
using AskedFor = std::variant<std::string, std::vector<std::int64_t>>;

struct ExplainQuestion {
  std::optional<AskedFor> output = {};  // by default what the problem asks for, else what is predicted
  std::int64_t top = 5;                 // worlds, at most
};

// Variables that somebody says are known, and an output.
struct ConditionQuestion {
  std::map<std::int64_t, std::int64_t> known = {};  // values by variable
  std::optional<AskedFor> output = {};
  std::int64_t top = 5;
};

// What the model says of an example whose label is known.
struct Judged {
  std::vector<std::int64_t> read;  // the most likely world
  std::string predicted;           // as people write it
  double probability = 0;          // of that
  std::string label;
  std::optional<bool> right = {};  // empty where the label does not say
  std::optional<double> gap = {};  // nats to the best world that gives the asked output, where a gap decides
  std::string words;               // "predicted 135 (99.2 %)"
};

// Constant, and may be asked from several threads. Refers to the predictor and the presentation. Methods throw
// UsageError where the question makes no sense, and Error where there is no answer.
class Answers {
 public:
  Answers(const Predictor& predictor, const Presentation& presentation, std::string task)
      : predictor_(predictor), shown_(presentation), task_(std::move(task)) {}

  AskedInput input(torch::Tensor inputs, std::optional<Observations> label = {}) const;
  AskedInput example(const Examples& examples, std::int64_t index) const;

  // The most likely outputs. With `certify`, c is asked about so many worlds of this belief, and how far off q can be
  // is told.
  Answer predict(const AskedInput& input, std::int64_t top = 5, std::int64_t certify = 0) const;

  Explanation explain(const AskedInput& input, const ExplainQuestion& question = {}) const;
  // What such an explanation says. `top` bounds the variables that are told by influence.
  Answer tell(const AskedInput& input, const Explanation& explanation, std::int64_t top = 5) const;
  // The most likely pairs of an output and a world.
  Answer explain_jointly(const AskedInput& input, std::int64_t top = 5) const;
  // What a picture of it shows.
  Picture picture(const AskedInput& input, const Explanation& explanation) const;
  // The same for a page: everything that `tell` says, with beliefs, paths, conflicts and influence by variable.
  nlohmann::ordered_json explanation_json(const AskedInput& input, const Explanation& explanation,
                                          std::int64_t top = 5) const;

  // What follows where some variables or an output are known: {"beliefs", "log_prob", "prediction", "explanation"}.
  nlohmann::ordered_json condition(const AskedInput& input, const ConditionQuestion& question) const;
  // How q chose an output and then the world that explains it best: {"steps"}; no steps where q cannot choose.
  nlohmann::ordered_json rollout(const AskedInput& input, const ConditionQuestion& question) const;
  std::vector<RecordedStep> record(const AskedInput& input, const Explanation& explanation) const;

  // Of examples begin to end, exclusive.
  std::vector<Judged> judge(const Examples& examples, std::int64_t begin, std::int64_t end) const;

  // Beliefs of one input, [worlds, domain] or with a batch of one, as a list for each variable that is as long as its
  // domain.
  nlohmann::ordered_json beliefs_json(const torch::Tensor& beliefs) const;

 private:
  std::vector<std::int64_t> asked_output(const AskedFor& asked) const;
  // The explanation of an input whose known variables were made certain (with_known). Throws Error where no world that
  // was found agrees with them.
  Explanation explain_known(const AskedInput& certain, const ConditionQuestion& question, std::int64_t top) const;
  // The input with what is known made certain.
  AskedInput with_known(const AskedInput& input, const std::map<std::int64_t, std::int64_t>& known) const;
  Answer tell_predictions(const Predictions& predicted) const;
  void certify(const AskedInput& input, std::int64_t draws, Answer& answer) const;
  void add_label(const AskedInput& input, Answer& answer) const;
  Answer tell_worlds(const AskedInput& input, const Explanation& explanation) const;
  Answer tell_search(const AskedInput& input, const Explanation& explanation) const;
  Answer tell_influence(const AskedInput& input, const Explanation& explanation, std::int64_t top) const;
  Judged judged(const Batch& batch, const torch::Tensor& beliefs, const Predictions& predicted, std::int64_t row) const;

  const Predictor& predictor_;
  const Presentation& shown_;
  std::string task_;
};

}  // namespace anesi

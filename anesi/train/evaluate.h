// How good a trained pair of perception and q is, on labelled examples.
#pragma once

#include <optional>

#include "anesi/core/problem.h"
#include "anesi/data/dataset.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/perception/perception.h"
#include "anesi/train/decision.h"

namespace anesi {

// Shares are from 0 to 1.
struct Evaluation {
  std::int64_t examples = 0;
  double symbolic = 0;                 // c(argmax p(w|P)) is the label
  double neural = 0;                   // the most likely output of q, by beam search, is the label
  double per_variable = 0;             // world variables read right
  double nll = 0;                      // mean of -log q(label|P)
  double ece = 0;                      // expected calibration error of the neural prediction's probability, 15 bins
  std::optional<double> explanation;   // world variables right in the most probable explanation of the prediction
  std::optional<double> satisfied;     // sampled explanations that give the predicted output
  std::int64_t sampled = 0;            // how many were sampled
  std::optional<double> decided;       // whether the output holds, by score and threshold, is what the label says
  double accuracy = 0;                 // the headline: one of symbolic, neural and decided, by the settings
  std::optional<double> ms_per_query;  // one example from input to neural prediction, batch of one
};

struct EvaluateSettings {
  std::int64_t beam = 1;
  const Pruning* pruning = nullptr;
  std::int64_t explanations = 0;  // sampled for each example, where q explains; 0: none, and no accuracy of them
  bool time_queries = false;
  const Decision* decision = nullptr;  // null: `decided` is left empty
  bool headline_is_neural = false;     // where there is no decision
  bool q_learned = true;               // where it did not, what q says is left empty
};

// Puts perception in evaluation mode and leaves it there.
Evaluation evaluate(const Problem& problem, Perception& perception, const InferenceModel& model, const Dataset& data,
                    const EvaluateSettings& settings);

// Expected calibration error (Naeini et al. 2015) of confidences [n] against whether each was right, bool [n].
double expected_calibration_error(const torch::Tensor& confidence, const torch::Tensor& right, std::int64_t bins = 15);

}  // namespace anesi

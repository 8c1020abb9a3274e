// How good a predictor is on labelled examples.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace anesi {

// Shares are from 0 to 1; NaN where they mean nothing.
struct Evaluation {
  std::int64_t examples = 0;
  double symbolic = 0;                // c(argmax p(w|P)) is the label
  double neural = 0;                  // the most likely output of q, by beam search, is the label
  double per_variable = 0;            // world variables read right, where the true worlds are known
  double nll = 0;                     // mean of -log q(label|P)
  double ece = 0;                     // expected calibration error of the neural prediction's probability, 15 bins
  std::optional<double> explanation;  // world variables right in the most probable explanation of the prediction
  std::optional<double> satisfied;    // sampled explanations that give the predicted output
  std::int64_t sampled = 0;           // how many were sampled
  // Where labels are worlds, under a constraint: how the most likely world of each belief does, and the most probable
  // one that gives the label's output.
  struct Structured {
    double exact_match = 0;   // all variables are right
    double per_variable = 0;  // how many are
    double satisfied = 0;     // the world gives the label's output
  };
  std::optional<Structured> believed, constrained;
  std::optional<double> decided;  // whether the output holds, by score and threshold, is what the label says
  double accuracy =
      0;  // the headline: one of symbolic, neural, decided and the exact matches above, by the predictor's options
  std::optional<double> ms_per_query;  // one example from input to neural prediction, batch of one
  // What came of each example, in their order; where that was asked for, and labels tell outputs.
  struct Outcomes {
    torch::Tensor read;        // int64 [examples, worlds]: the most likely world
    torch::Tensor confidence;  // [examples]: the probability that q gives to its own decision
    torch::Tensor right;       // bool [examples]: whether that decision is what the label says
  };
  std::optional<Outcomes> outcomes;
};

struct EvaluateSettings {
  std::int64_t beam = 0;          // width of the beam; 0: the predictor's own
  std::int64_t explanations = 0;  // sampled for each example, where q explains; 0: none, and no accuracy of them
  bool time_queries = false;
  bool outcomes = false;  // of each example too
};

// Examples whose confidence is from `low` to `high`.
struct ReliabilityBin {
  double low = 0, high = 0;
  std::int64_t examples = 0;
  double confidence = 0, right = 0;  // means over them; 0 where there are none
};

// Confidences [n] against whether each was right, bool [n], in bins of equal width.
std::vector<ReliabilityBin> reliability(const torch::Tensor& confidence, const torch::Tensor& right,
                                        std::int64_t bins = 15);

// Expected calibration error (Naeini et al. 2015): how far the two means of those bins are apart, in the mean over
// examples.
double expected_calibration_error(const torch::Tensor& confidence, const torch::Tensor& right, std::int64_t bins = 15);

}  // namespace anesi

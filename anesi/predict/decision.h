// Yes or no: does an output hold?
//
// Some labels only say whether one output holds (is this grid a sudoku?). The most likely world answers no as soon as
// one variable is misread. A score tells more, and a threshold that was fitted on held-out labels turns it into a
// decision with a calibrated probability.
//
//   likelihood  log q(y|P)
//   gap         minus the nats that separate the most likely world from the most likely one that gives the output
#pragma once

#include <array>
#include <string_view>

#include "anesi/core/problem.h"
#include "anesi/models/sequence_model.h"
#include "anesi/perception/perception.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/tensors/examples.h"

namespace anesi {

enum class ScoredBy { kLikelihood, kGap };
constexpr std::array<std::string_view, 2> names_of(ScoredBy) { return {"likelihood", "gap"}; }

struct Decision {
  ScoredBy by = ScoredBy::kLikelihood;
  SearchLimits limits;           // of the gap; where none is found within them, the gap is limits.nats
  double slope = 1, offset = 0;  // probability = 1 / (1 + exp(-(slope * score + offset)))

  // Scores of outputs, double [batch]: higher where they hold.
  torch::Tensor scores(const Problem& problem, SequenceModel& prediction, const torch::Tensor& beliefs,
                       const torch::Tensor& outputs) const;
  // That the outputs hold, double [batch].
  torch::Tensor probability(const torch::Tensor& scores) const { return (scores * slope + offset).sigmoid(); }
  // Logistic regression of whether outputs hold, bool [n], on their scores, double [n]. A small penalty on the slope
  // keeps it finite where the scores separate the two.
  void fit(const torch::Tensor& scores, const torch::Tensor& holds);
  // The same, on labelled examples; perception is left in evaluation mode. Throws UsageError where labels do not say
  // whether outputs hold.
  void fit(const Problem& problem, SequenceModel& prediction, Perception& perception, const Examples& data);
};

}  // namespace anesi

// The paper's inference models: a separate multilayer perceptron for every factor.
//
// q(y_i | y_1..y_{i-1}, P) sees the flat belief followed by the one-hot values chosen so far; q(w_i | w_1..w_{i-1}, y,
// P) sees the one-hot output between them. Variables are chosen in their own order. No parameters are shared (appendix
// I.1), so weights grow with the square of the number of variables.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct MlpOptions {
  std::int64_t layers = 3;
  std::int64_t width = 800;
  bool follow_beliefs = false, log_beliefs = false;

  void describe(OptionTable& table) {
    table.add("layers", layers, {1, 16}, "hidden layers of each factor's network");
    table.add("width", width, {1, 16384}, "units in a hidden layer");
    table.add("follow_beliefs", follow_beliefs,
              "an explanation begins as the beliefs themselves, and learns by how much to depart from them");
    table.add("log_beliefs", log_beliefs,
              "shows networks the logarithms of beliefs too: what is unlikely, and what is far less likely still, look "
              "alike otherwise");
  }
};

class Mlp final : public SequenceModel {
 public:
  // Over outputs given beliefs or, where `explains`, over worlds given beliefs and outputs.
  Mlp(const Space& worlds, const Space& outputs, bool explains, const MlpOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

 private:
  friend class MlpRollout;
  // The context as one row of numbers, [rows, width].
  torch::Tensor flatten(const Context& context) const;
  // The factor's log-probabilities on (context, values so far), float [rows, inputs of that factor].
  torch::Tensor factor_log_probs(std::int64_t variable, const torch::Tensor& inputs);

  Space outputs_;
  std::int64_t largest_domain_;  // of a world variable
  bool follows_beliefs_;         // of an explanation
  bool sees_logs_;
  std::vector<torch::nn::Sequential> factors_;
};

}  // namespace anesi

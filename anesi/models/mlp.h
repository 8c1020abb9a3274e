// The paper's inference model: a separate multilayer perceptron for every factor q(y_i | y_1..y_{i-1}, P).
//
// Its input is the flat belief followed by the one-hot values chosen so far; variables are chosen in their own order.
// No parameters are shared (appendix I.1), so weights grow with the square of the number of variables.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct MlpOptions {
  std::int64_t layers = 3;
  std::int64_t width = 800;

  void describe(OptionTable& table) {
    table.add("layers", layers, {1, 16}, "hidden layers of each factor's network");
    table.add("width", width, {1, 16384}, "units in a hidden layer");
  }
};

class Mlp final : public SequenceModel {
 public:
  Mlp(const Space& worlds, const Space& outputs, const MlpOptions& options);

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const torch::Tensor& beliefs) override;

 private:
  friend class MlpRollout;
  // The factor's log-probabilities on (beliefs, values so far), float [rows, inputs of that factor].
  torch::Tensor factor_log_probs(std::int64_t variable, const torch::Tensor& inputs);

  std::vector<torch::nn::Sequential> factors_;
};

}  // namespace anesi

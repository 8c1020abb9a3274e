// Attention between world variables: for sets and sequences of any kind.
//
// q(y|P): the beliefs of all world variables, one token each, look at each other; one more token for each output
// variable, which holds the value before it, looks at all of them and at the outputs before it, and says what its
// value is. q(w|y,P): all that is given, beliefs and outputs, look at each other; one more token for each world
// variable holds its belief, and belief and value of the one chosen before it. Without positions world variables are a
// set: q(y|P) is then the same in whichever order they stand.
#pragma once

#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct TransformerOptions {
  std::int64_t layers = 2, width = 64, heads = 4;
  bool positions = true;

  void describe(OptionTable& table) {
    table.add("layers", layers, {1, 64}, "layers of attention");
    table.add("width", width, {1, 16384}, "numbers in a token, a multiple of heads");
    table.add("heads", heads, {1, 1024}, "heads of attention");
    table.add("positions", positions, "whether tokens know which world variable they are of; false: a set");
  }
};

class Transformer final : public SequenceModel {
 public:
  // Over outputs given beliefs or, where `explains`, over worlds given beliefs and outputs. Throws UsageError where the
  // width is no multiple of the heads.
  Transformer(const Space& worlds, const Space& outputs, bool explains, const TransformerOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

 private:
  friend class TransformerRollout;
  // Tokens of all that is given, [rows, tokens, width].
  torch::Tensor given_tokens(const Context& context);
  // What is said of the variables up to the one after those chosen, [rows, chosen + 1, largest domain]; -inf past a
  // domain. `tokens` are those of what is given, `beliefs` the context's, `chosen` int64 [rows, chosen].
  torch::Tensor choices(const torch::Tensor& tokens, const torch::Tensor& beliefs, const torch::Tensor& chosen);

  Space worlds_, outputs_;
  bool explains_;
  torch::nn::Linear belief_ = nullptr;                              // of a world variable
  torch::nn::Embedding world_ = nullptr;                            // which world variable; null without positions
  torch::nn::Embedding output_ = nullptr, output_value_ = nullptr;  // which output variable, and its value
  torch::nn::Embedding before_ = nullptr;                           // the value chosen before
  torch::nn::Embedding choice_ = nullptr;  // which variable is chosen; null for worlds without positions
  torch::nn::Linear chosen_belief_ = nullptr, before_belief_ = nullptr;  // of the world variable, and of the one before
  torch::nn::TransformerEncoder encoder_ = nullptr;
  torch::nn::Linear head_ = nullptr;
  torch::Tensor past_domain_;  // bool [variables, largest domain]
};

}  // namespace anesi

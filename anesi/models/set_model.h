// Variables in any order: a choice sees what was chosen as a set, whichever way led there (appendix D.2 of the paper).
//
// What is given, beliefs and outputs, look at each other once. Each variable that is asked for then looks at all of
// that and at the variables chosen so far, each of which is one token of variable, belief and value. Those tokens do
// not look at each other, so that nothing tells in which order they came: equal states are one, and what is learned in
// one order holds in all. A complete point takes one pass in any order.
//
// While q(w|y,P) learns, each point has an order of its own, drawn at random, and rollouts one for each update. That is
// trajectory balance on partial assignments: with the next variable drawn evenly, P_F's share of the order, 1/n!, is
// also P_B's, and cancels. At rest, points are chosen from the first variable to the last. A mean over orders would be
// a distribution too, but has n! terms, and sampling, beams and pruners want one product. q(y|P) keeps that order
// always.
#pragma once

#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

struct SetOptions {
  std::int64_t layers = 2, width = 64, heads = 4;
  bool any_order = true;

  void describe(OptionTable& table) {
    table.add("layers", layers, {1, 64}, "layers of attention, of what is given and of what is asked");
    table.add("width", width, {1, 16384}, "numbers in a token, a multiple of heads");
    table.add("heads", heads, {1, 1024}, "heads of attention");
    table.add("any_order", any_order,
              "whether explanations are learned in orders drawn at random; false: in that of the variables");
  }
};

class SetModel final : public SequenceModel {
 public:
  // Over outputs given beliefs or, where `explains`, over worlds given beliefs and outputs. Throws UsageError where the
  // width is no multiple of the heads.
  SetModel(const Space& worlds, const Space& outputs, bool explains, const SetOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;
  // An order for this update, or that of rest.
  void train(bool on = true) override;
  void draw_from(at::Generator generator) override { generator_ = std::move(generator); }

  // log q of each point where its variables are chosen in these orders, int64 [batch, variables].
  torch::Tensor log_prob_in(const Context& context, const torch::Tensor& values, const torch::Tensor& orders);

  // What is said of every variable given the ones that are chosen, int64 [batch, variables] with kUnset elsewhere:
  // log-probabilities, [batch, variables, largest domain], -inf past a domain. Of those chosen they mean nothing.
  torch::Tensor conditionals(const Context& context, const torch::Tensor& partial);

 private:
  friend class SetRollout;
  // Tokens of all that is given, [rows, tokens, width].
  torch::Tensor given_tokens(const Context& context);
  // Log-probabilities of asked variables, [rows, asked, largest domain]; `seen`, bool [rows, asked, variables], says
  // which of the values each may look at. Asked are `count` variables from `first` on.
  torch::Tensor said(const torch::Tensor& given, const torch::Tensor& values, const torch::Tensor& seen,
                     std::int64_t first, std::int64_t count);

  Space worlds_, outputs_;
  bool explains_, any_order_;
  std::int64_t heads_;
  at::Generator generator_ = seeded(0);  // of orders; until it is told another
  torch::nn::Linear belief_ = nullptr;
  torch::nn::Embedding world_ = nullptr, output_ = nullptr, output_value_ = nullptr;  // which variable; its value
  torch::nn::Embedding asked_ = nullptr, value_ = nullptr;  // which variable is asked for; a value that was chosen
  torch::nn::Sequential chosen_ = nullptr;                  // of a variable and its value, one token
  torch::nn::TransformerEncoder encoder_ = nullptr;
  struct Layer {
    torch::nn::Linear ask = nullptr, look = nullptr, take = nullptr, inner = nullptr, outer = nullptr;
    torch::nn::LayerNorm before = nullptr, between = nullptr;
  };
  std::vector<Layer> layers_;
  torch::nn::LayerNorm last_ = nullptr;
  torch::nn::Linear head_ = nullptr;
  torch::Tensor past_domain_;  // bool [variables, largest domain]
};

}  // namespace anesi

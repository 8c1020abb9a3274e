#include "anesi/models/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "anesi/models/architecture.h"

namespace anesi {
namespace {

constexpr std::int64_t kInnerWidths = 4;  // of the network after each attention, in widths of a token

torch::nn::TransformerEncoder encoder_of(const TransformerOptions& options) {
  const auto layer = torch::nn::TransformerEncoderLayerOptions(options.width, options.heads)
                         .dim_feedforward(kInnerWidths * options.width)
                         .dropout(0)
                         .activation(torch::kGELU);
  return torch::nn::TransformerEncoder(
      torch::nn::TransformerEncoderOptions(torch::nn::TransformerEncoderLayer(layer), options.layers));
}

}  // namespace

class TransformerRollout final : public Rollout {
 public:
  TransformerRollout(Transformer& model, const Context& context)
      : model_(model),
        tokens_(model.given_tokens(context)),
        beliefs_(context.beliefs),
        chosen_(torch::empty({context.size(), 0}, context.beliefs.options().dtype(torch::kInt64))) {}

  torch::Tensor next_log_probs() override {
    const auto variable = chosen_.size(1);
    return model_.choices(tokens_, beliefs_, chosen_)
        .select(1, variable)
        .slice(1, 0, model_.space().domain(variable))
        .log_softmax(1);
  }
  void advance(const torch::Tensor& values) override { chosen_ = torch::cat({chosen_, values.unsqueeze(1)}, 1); }
  void select(const torch::Tensor& rows) override {
    tokens_ = tokens_.index_select(0, rows);
    beliefs_ = beliefs_.index_select(0, rows);
    chosen_ = chosen_.index_select(0, rows);
  }

 private:
  Transformer& model_;
  torch::Tensor tokens_;   // [rows, tokens, width]
  torch::Tensor beliefs_;  // [rows, worlds, domain]
  torch::Tensor chosen_;   // int64 [rows, chosen]
};

Transformer::Transformer(const Space& worlds, const Space& outputs, bool explains, const TransformerOptions& options)
    : SequenceModel(explains ? worlds : outputs), worlds_(worlds), outputs_(outputs), explains_(explains) {
  if (options.width % options.heads != 0) {
    throw UsageError(fmt::format("transformer.width: {} is no multiple of {} heads", options.width, options.heads));
  }
  const auto width = options.width;
  const auto embedding = [&](const char* name, std::int64_t count) {
    return register_module(name, torch::nn::Embedding(count, width));
  };
  belief_ = register_module("belief", torch::nn::Linear(worlds.largest_domain(), width));
  if (options.positions) world_ = embedding("world", worlds.variables());
  if (explains) {
    output_ = embedding("output", outputs.variables());
    output_value_ = embedding("output_value", outputs.largest_domain() + 1);  // kNone first
    chosen_belief_ = register_module("chosen_belief", torch::nn::Linear(worlds.largest_domain(), width));
    before_belief_ = register_module("before_belief", torch::nn::Linear(worlds.largest_domain(), width));
  }
  before_ = embedding("before", space().largest_domain() + 2);  // nothing yet, then kNone
  if (options.positions || !explains) choice_ = embedding("choice", space().variables());
  encoder_ = register_module("encoder", encoder_of(options));
  head_ = register_module("head", torch::nn::Linear(width, space().largest_domain()));
  past_domain_ = torch::zeros({space().variables(), space().largest_domain()}, torch::kBool);
  for (std::int64_t variable = 0; variable < space().variables(); ++variable) {
    past_domain_[variable].slice(0, space().domain(variable)).fill_(true);
  }
}

torch::Tensor Transformer::given_tokens(const Context& context) {
  auto tokens = belief_(context.beliefs);
  if (world_) tokens = tokens + world_->weight;
  if (!explains_) return tokens;
  return torch::cat({tokens, output_value_(context.outputs - kNone) + output_->weight}, 1);
}

torch::Tensor Transformer::choices(const torch::Tensor& tokens, const torch::Tensor& beliefs,
                                   const torch::Tensor& chosen) {
  const auto given = tokens.size(1), asked = chosen.size(1) + 1, all = given + asked;
  const auto before = torch::constant_pad_nd(chosen + 2, {1, 0}, 0);  // nothing stands before the first
  auto asking = before_(before);
  if (choice_) asking = asking + choice_->weight.slice(0, 0, asked);
  if (explains_) {
    const auto shifted = torch::constant_pad_nd(beliefs.slice(1, 0, asked - 1), {0, 0, 1, 0});
    asking = asking + chosen_belief_(beliefs.slice(1, 0, asked)) + before_belief_(shifted);
  }
  // What is given looks at what is given; a choice looks at that too, and at the choices up to itself.
  auto blocked = torch::ones({all, all}, tokens.options().dtype(torch::kBool)).triu(1);
  blocked.slice(1, 0, given).zero_();
  const auto mask = torch::zeros({all, all}, tokens.options()).masked_fill(blocked, -INFINITY);
  const auto seen = encoder_->forward(torch::cat({tokens, asking}, 1).transpose(0, 1), mask).transpose(0, 1);
  const auto said = full_precision(head_(seen.slice(1, given)));  // [rows, asked, largest domain]
  return said.masked_fill(past_domain_.to(said.device()).slice(0, 0, asked), -INFINITY);
}

torch::Tensor Transformer::log_prob(const Context& context, const torch::Tensor& values) {
  const auto chosen = values.slice(1, 0, values.size(1) - 1);
  const auto log_probs = choices(given_tokens(context), context.beliefs, chosen).log_softmax(2);
  return log_probs.gather(2, values.unsqueeze(2)).squeeze(2).sum(1);
}

std::unique_ptr<Rollout> Transformer::begin(const Context& context) {
  return std::make_unique<TransformerRollout>(*this, context);
}

ANESI_ARCHITECTURE("transformer", "attention between world variables, for sets and sequences", TransformerOptions,
                   [](const TransformerOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto make = [&](bool explains) {
                       return std::make_shared<Transformer>(problem.worlds(), problem.outputs(), explains, options);
                     };
                     return {make(false), explain ? make(true) : nullptr};
                   });

}  // namespace anesi

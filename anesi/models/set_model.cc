#include "anesi/models/set_model.h"

#include <fmt/format.h>

#include "anesi/models/architecture.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

constexpr std::int64_t kInnerWidthsOfSets = 4;  // of the network after each attention, in widths of a token

// At which step each variable of an order is chosen.
torch::Tensor ranks_of(const torch::Tensor& orders) { return orders.argsort(/*dim=*/-1, /*descending=*/false); }

// [rows, tokens, width] -> [rows, heads, tokens, width of a head]
torch::Tensor in_heads(const torch::Tensor& tokens, std::int64_t heads) {
  return tokens.view({tokens.size(0), tokens.size(1), heads, -1}).transpose(1, 2);
}

}  // namespace

class SetRollout final : public Rollout {
 public:
  SetRollout(SetModel& model, const Context& context)
      : model_(model),
        order_(model.order()),
        given_(model.given_tokens(context)),
        chosen_(torch::full({context.size(), model.space().variables()}, kUnset,
                            context.beliefs.options().dtype(torch::kInt64))) {}

  torch::Tensor next_log_probs() override {
    const auto variable = order_[step_];
    const auto seen = (chosen_ != kUnset).unsqueeze(1);
    return model_.said(given_, chosen_, seen, variable, 1).select(1, 0).slice(1, 0, model_.space().domain(variable));
  }
  void advance(const torch::Tensor& values) override {
    chosen_ = chosen_.clone();
    chosen_.select(1, order_[step_++]).copy_(values);
  }
  void select(const torch::Tensor& rows) override {
    given_ = given_.index_select(0, rows);
    chosen_ = chosen_.index_select(0, rows);
  }

 private:
  SetModel& model_;
  std::vector<std::int64_t> order_;
  std::size_t step_ = 0;
  torch::Tensor given_;   // [rows, tokens, width]
  torch::Tensor chosen_;  // int64 [rows, variables]
};

SetModel::SetModel(const Space& worlds, const Space& outputs, bool explains, const SetOptions& options)
    : SequenceModel(explains ? worlds : outputs),
      worlds_(worlds),
      outputs_(outputs),
      explains_(explains),
      any_order_(explains && options.any_order),
      heads_(options.heads) {
  const auto width = options.width;
  if (width % heads_ != 0) throw UsageError(fmt::format("set.width: {} is no multiple of {} heads", width, heads_));
  const auto linear = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    return register_module(name, torch::nn::Linear(from, to));
  };
  const auto embedding = [&](const char* name, std::int64_t count) {
    return register_module(name, torch::nn::Embedding(count, width));
  };
  const auto norm = [&](const std::string& name) {
    return register_module(name, torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  };
  belief_ = linear("belief", worlds.largest_domain(), width);
  world_ = embedding("world", worlds.variables());
  if (explains) {
    output_ = embedding("output", outputs.variables());
    output_value_ = embedding("output_value", outputs.largest_domain() + 1);  // kNone first
  }
  asked_ = embedding("asked", space().variables());
  value_ = embedding("value", space().largest_domain() + 1);  // unset first
  chosen_ = register_module("chosen", torch::nn::Sequential(torch::nn::Linear(width, width), torch::nn::GELU(),
                                                            torch::nn::Linear(width, width)));
  const auto layer = torch::nn::TransformerEncoderLayerOptions(width, heads_)
                         .dim_feedforward(kInnerWidthsOfSets * width)
                         .dropout(0)
                         .activation(torch::kGELU);
  encoder_ = register_module("encoder", torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
                                            torch::nn::TransformerEncoderLayer(layer), options.layers)));
  for (std::int64_t place = 0; place < options.layers; ++place) {
    const auto name = [&](const char* part) { return fmt::format("{}_{}", part, place); };
    layers_.push_back({linear(name("ask"), width, width), linear(name("look"), width, 2 * width),
                       linear(name("take"), width, width), linear(name("inner"), width, kInnerWidthsOfSets * width),
                       linear(name("outer"), kInnerWidthsOfSets * width, width), norm(name("before")),
                       norm(name("between"))});
  }
  last_ = norm("last");
  head_ = linear("head", width, space().largest_domain());
  past_domain_ = torch::zeros({space().variables(), space().largest_domain()}, torch::kBool);
  for (std::int64_t variable = 0; variable < space().variables(); ++variable) {
    past_domain_[variable].slice(0, space().domain(variable)).fill_(true);
  }
}

torch::Tensor SetModel::given_tokens(const Context& context) {
  auto tokens = belief_(context.beliefs) + world_->weight;
  if (explains_) tokens = torch::cat({tokens, output_value_(context.outputs - kNone) + output_->weight}, 1);
  return encoder_->forward(tokens.transpose(0, 1)).transpose(0, 1);
}

torch::Tensor SetModel::said(const torch::Tensor& given, const torch::Tensor& values, const torch::Tensor& seen,
                             std::int64_t first, std::int64_t count) {
  const auto rows = given.size(0), variables = space().variables();
  // A world variable's own token knows its belief.
  const auto own = explains_ ? given.slice(1, 0, variables) + asked_->weight : asked_->weight.expand({rows, -1, -1});
  const auto of_value = value_((values + 1).clamp_min(0));  // what is unset is never looked at
  const auto tokens = torch::cat({given, chosen_->forward(own + of_value)}, 1);
  const auto all_given = torch::ones({rows, count, given.size(1)}, seen.options());
  const auto mask = torch::cat({all_given, seen}, 2).unsqueeze(1);  // [rows, 1, asked, tokens]
  auto asking = own.slice(1, first, first + count);
  for (auto& layer : layers_) {
    const auto looked = layer.look(tokens).chunk(2, 2);
    const auto found = at::scaled_dot_product_attention(in_heads(layer.ask(layer.before(asking)), heads_),
                                                        in_heads(looked[0], heads_), in_heads(looked[1], heads_), mask);
    asking = asking + layer.take(found.transpose(1, 2).flatten(2));
    asking = asking + layer.outer(torch::gelu(layer.inner(layer.between(asking))));
  }
  const auto scores = full_precision(head_(last_(asking)));
  const auto past = past_domain_.slice(0, first, first + count).to(scores.device());
  return scores.masked_fill(past, -INFINITY).log_softmax(2);
}

torch::Tensor SetModel::log_prob_in(const Context& context, const torch::Tensor& values, const torch::Tensor& orders) {
  const auto ranks = ranks_of(orders).expand({values.size(0), -1});
  const auto seen = ranks.unsqueeze(1) < ranks.unsqueeze(2);  // [rows, asked, variables]
  const auto log_probs = said(given_tokens(context), values, seen, 0, space().variables());
  return log_probs.gather(2, values.unsqueeze(2)).squeeze(2).sum(1);
}

torch::Tensor SetModel::log_prob(const Context& context, const torch::Tensor& values) {
  const auto on_device = values.options();
  const auto orders =
      any_order_ && is_training()
          ? torch::rand(values.sizes(), generator_).argsort(1, /*descending=*/false).to(on_device.device())
          : torch::tensor(order(), on_device).unsqueeze(0);
  return log_prob_in(context, values, orders);
}

torch::Tensor SetModel::conditionals(const Context& context, const torch::Tensor& partial) {
  const auto variables = space().variables();
  const auto seen = (partial != kUnset).unsqueeze(1).expand({-1, variables, -1});
  return said(given_tokens(context), partial, seen, 0, variables);
}

void SetModel::train(bool on) {
  SequenceModel::train(on);
  if (!any_order_) return;
  const auto variables = space().variables();
  const auto next =
      on ? torch::randperm(variables, generator_, torch::kInt64) : torch::arange(variables, torch::kInt64);
  set_order(values_of(next));
}

std::unique_ptr<Rollout> SetModel::begin(const Context& context) {
  return std::make_unique<SetRollout>(*this, context);
}

ANESI_ARCHITECTURE("set", "attention to what was chosen as a set: explains in any order", SetOptions,
                   [](const SetOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto make = [&](bool explains) {
                       return std::make_shared<SetModel>(problem.worlds(), problem.outputs(), explains, options);
                     };
                     return {make(false), explain ? make(true) : nullptr};
                   });

}  // namespace anesi

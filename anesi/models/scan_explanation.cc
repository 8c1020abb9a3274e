#include "anesi/models/scan_explanation.h"

#include <limits>
#include <numeric>

namespace anesi {
namespace {

// Zero is as good as impossible, but its logarithm must stay a number.
torch::Tensor safe_log(const torch::Tensor& belief) {
  return belief.clamp_min(std::numeric_limits<float>::min()).log();
}

}  // namespace

class ScanExplanationRollout final : public Rollout {
 public:
  ScanExplanationRollout(ScanExplanation& model, const Context& context)
      : model_(model),
        inputs_(model.look_ahead(context)),
        beliefs_(context.beliefs),
        state_(model.first_state_.expand({context.size(), -1})) {
    enter_step();
  }

  torch::Tensor next_log_probs() override {
    const auto variable = current().reads[place_];
    const auto belief = beliefs_.select(1, variable).slice(1, 0, model_.space().domain(variable));
    return model_.choose(current(), place_, torch::relu(before_), belief);
  }

  void advance(const torch::Tensor& values) override {
    before_ = before_ + model_.told(current(), place_, values);
    if (++place_ < current().reads.size()) return;
    leave_step();
    enter_step();
  }

  void select(const torch::Tensor& rows) override {
    for (auto step = step_ + 1; step < inputs_.size(); ++step) inputs_[step] = inputs_[step].index_select(0, rows);
    beliefs_ = beliefs_.index_select(0, rows);
    before_ = before_.index_select(0, rows);
  }

 private:
  const ReadingStep& current() const { return model_.reading_.steps()[step_]; }

  void enter_step() {
    place_ = 0;
    while (step_ < inputs_.size()) {
      before_ = inputs_[step_] + model_.from_state_(state_);
      if (!current().reads.empty()) return;
      leave_step();
    }
  }

  void leave_step() {
    if (++step_ < inputs_.size()) state_ = model_.move(torch::relu(before_));
  }

  ScanExplanation& model_;
  std::vector<torch::Tensor> inputs_;
  torch::Tensor beliefs_, state_;
  torch::Tensor before_;  // the current step's cell before its rectifier
  std::size_t step_ = 0, place_ = 0;
};

ScanExplanation::ScanExplanation(const Space& worlds, const Space& outputs, const ReadingOrder& reading,
                                 const ScanOptions& options)
    : SequenceModel(worlds, reading.read()), reading_(reading), outputs_(outputs), width_(options.width) {
  const auto linear = [&](const char* name) { return register_module(name, torch::nn::Linear(width_, width_)); };
  first_state_ = register_parameter("first_state", torch::zeros({width_}));
  last_message_ = register_parameter("last_message", torch::zeros({width_}));
  from_message_ = linear("from_message");
  message_ = linear("message");
  from_ahead_ = linear("from_ahead");
  from_state_ = linear("from_state");
  before_head_ = linear("before_head");
  before_move_ = linear("before_move");
  move_ = linear("move");
  const auto norm = [&] { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width_})); };
  message_norm_ = register_module("message_norm", norm());
  state_norm_ = register_module("state_norm", norm());
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    const auto suffix = std::to_string(index);
    const auto inputs = std::accumulate(kind.read_domains.begin(), kind.read_domains.end(), kind.emit_domain);
    encoders_.emplace_back(register_module("encoder" + suffix, torch::nn::Linear(inputs, width_)));
    auto& heads = heads_.emplace_back();
    auto& told = told_.emplace_back();
    for (std::size_t place = 0; place < kind.read_domains.size(); ++place) {
      const auto name = suffix + "_" + std::to_string(place);
      const auto domain = kind.read_domains[place];
      heads.emplace_back(register_module("head" + name, torch::nn::Linear(width_, domain)));
      told.emplace_back(register_module("told" + name, torch::nn::Embedding(domain, width_)));
    }
  }
}

std::vector<torch::Tensor> ScanExplanation::look_ahead(const Context& context) {
  const auto& steps = reading_.steps();
  const auto rows = context.size();
  std::vector<torch::Tensor> encoded(steps.size());
  // All steps of a kind go through their encoder at once.
  for (std::int64_t kind = 0; kind < reading_.kinds(); ++kind) {
    std::vector<torch::Tensor> inputs;
    std::vector<std::size_t> places;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].kind != kind) continue;
      std::vector<torch::Tensor> parts;
      for (const auto variable : steps[step].reads) {
        parts.push_back(context.beliefs.select(1, variable).slice(1, 0, space().domain(variable)));
      }
      // The output's value as one-hot; the first and only entry stands for "emits nothing".
      const auto domain = reading_.kind(kind).emit_domain;
      auto emitted = torch::zeros({rows, domain + 1}, context.beliefs.options());
      emitted = steps[step].emits
                    ? emitted.scatter(1, (context.outputs.select(1, *steps[step].emits) + 1).unsqueeze(1), 1.0)
                    : emitted;
      parts.push_back(emitted.slice(1, 1));
      inputs.push_back(torch::cat(parts, 1));
      places.push_back(step);
    }
    const auto outputs = encoders_[static_cast<std::size_t>(kind)](torch::stack(inputs)).unbind(0);
    for (std::size_t place = 0; place < places.size(); ++place) encoded[places[place]] = outputs[place];
  }
  std::vector<torch::Tensor> messages(steps.size());
  auto message = last_message_.expand({rows, -1});
  for (auto step = steps.size(); step-- > 0;) {
    messages[step] = message;
    if (step > 0) message = message_norm_(message_(torch::relu(encoded[step] + from_message_(message))));
  }
  const auto ahead = from_ahead_(torch::stack(messages)).unbind(0);
  for (std::size_t step = 0; step < steps.size(); ++step) encoded[step] = encoded[step] + ahead[step];
  return encoded;
}

torch::Tensor ScanExplanation::choose(const ReadingStep& step, std::size_t place, const torch::Tensor& seen,
                                      const torch::Tensor& belief) {
  const auto fit = heads_[static_cast<std::size_t>(step.kind)][place](torch::relu(before_head_(seen)));
  return (full_precision(fit) + safe_log(belief)).log_softmax(-1);
}

torch::Tensor ScanExplanation::told(const ReadingStep& step, std::size_t place, const torch::Tensor& values) {
  return told_[static_cast<std::size_t>(step.kind)][place](values);
}

torch::Tensor ScanExplanation::move(const torch::Tensor& seen) {
  return state_norm_(move_(torch::relu(before_move_(seen))));
}

torch::Tensor ScanExplanation::log_prob(const Context& context, const torch::Tensor& values) {
  const auto& steps = reading_.steps();
  const auto inputs = look_ahead(context);
  auto state = first_state_.expand({context.size(), -1});
  auto total = torch::zeros({context.size()}, context.beliefs.options());
  // What was seen before each choice, by kind and place, so that every head runs once over all its steps.
  struct Choices {
    std::vector<torch::Tensor> seen, beliefs, values;
  };
  std::vector<std::vector<Choices>> choices;
  for (const auto& heads : heads_) choices.emplace_back(heads.size());
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const auto& step = steps[index];
    auto before = inputs[index] + from_state_(state);
    for (std::size_t place = 0; place < step.reads.size(); ++place) {
      const auto variable = step.reads[place];
      auto& here = choices[static_cast<std::size_t>(step.kind)][place];
      here.seen.push_back(torch::relu(before));
      here.beliefs.push_back(context.beliefs.select(1, variable).slice(1, 0, space().domain(variable)));
      here.values.push_back(values.select(1, variable));
      before = before + told(step, place, here.values.back());
    }
    if (index + 1 < steps.size()) state = move(torch::relu(before));
  }
  for (std::size_t kind = 0; kind < choices.size(); ++kind) {
    for (std::size_t place = 0; place < choices[kind].size(); ++place) {
      const auto& here = choices[kind][place];
      if (here.seen.empty()) continue;
      ReadingStep step;
      step.kind = static_cast<std::int64_t>(kind);
      const auto log_probs = choose(step, place, torch::stack(here.seen), torch::stack(here.beliefs));
      total = total + log_probs.gather(2, torch::stack(here.values).unsqueeze(2)).squeeze(2).sum(0);
    }
  }
  return total;
}

std::unique_ptr<Rollout> ScanExplanation::begin(const Context& context) {
  return std::make_unique<ScanExplanationRollout>(*this, context);
}

}  // namespace anesi

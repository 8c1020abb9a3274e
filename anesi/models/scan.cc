#include "anesi/models/scan.h"

#include <numeric>

#include "anesi/models/architecture.h"
#include "anesi/models/scan_explanation.h"

namespace anesi {

class ScanRollout final : public Rollout {
 public:
  ScanRollout(Scan& model, const torch::Tensor& beliefs)
      : model_(model), encoded_(model.encode(beliefs)), state_(model.first_state_.expand({beliefs.size(0), -1})) {
    read_until_emission();
  }

  torch::Tensor next_log_probs() override { return model_.emit(current(), seen_); }

  void advance(const torch::Tensor& values) override {
    state_ = model_.move(current(), seen_, values);
    ++step_;
    read_until_emission();
  }

  void select(const torch::Tensor& rows) override {
    for (auto step = step_ + 1; step < encoded_.size(); ++step) {
      if (encoded_[step].defined()) encoded_[step] = encoded_[step].index_select(0, rows);
    }
    seen_ = seen_.index_select(0, rows);
  }

 private:
  const ReadingStep& current() const { return model_.reading_.steps()[step_]; }

  void read_until_emission() {
    for (; step_ < encoded_.size(); ++step_) {
      seen_ = model_.look(encoded_[step_], state_);
      if (current().emits) return;
      state_ = model_.move(current(), seen_, {});
    }
  }

  Scan& model_;
  std::vector<torch::Tensor> encoded_;
  torch::Tensor state_, seen_;
  std::size_t step_ = 0;
};

Scan::Scan(const Space& worlds, const Space& outputs, const ReadingOrder& reading, const ScanOptions& options)
    : SequenceModel(outputs, reading.emitted()),
      reading_(reading),
      world_domains_(worlds.domains()),
      width_(options.width) {
  first_state_ = register_parameter("first_state", torch::zeros({width_}));
  from_state_ = register_module("from_state", torch::nn::Linear(width_, width_));
  before_head_ = register_module("before_head", torch::nn::Linear(width_, width_));
  before_move_ = register_module("before_move", torch::nn::Linear(width_, width_));
  move_ = register_module("move", torch::nn::Linear(width_, width_));
  norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width_})));
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    const auto inputs = std::accumulate(kind.read_domains.begin(), kind.read_domains.end(), std::int64_t{0});
    const auto suffix = std::to_string(index);
    encoders_.emplace_back(inputs == 0 ? nullptr
                                       : register_module("encoder" + suffix, torch::nn::Linear(inputs, width_)));
    const bool emits = kind.emit_domain > 1;
    heads_.emplace_back(emits ? register_module("head" + suffix, torch::nn::Linear(width_, kind.emit_domain))
                              : nullptr);
    told_.emplace_back(emits ? register_module("told" + suffix, torch::nn::Embedding(kind.emit_domain, width_))
                             : nullptr);
  }
}

std::vector<torch::Tensor> Scan::encode(const torch::Tensor& beliefs) {
  // All steps of a kind go through their encoder at once.
  const auto& steps = reading_.steps();
  std::vector<torch::Tensor> encoded(steps.size());
  for (std::int64_t kind = 0; kind < reading_.kinds(); ++kind) {
    if (encoders_[static_cast<std::size_t>(kind)].is_empty()) continue;
    std::vector<torch::Tensor> inputs;
    std::vector<std::size_t> places;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].kind != kind) continue;
      std::vector<torch::Tensor> read;
      for (const auto variable : steps[step].reads) {
        read.push_back(beliefs.select(1, variable).slice(1, 0, world_domains_[static_cast<std::size_t>(variable)]));
      }
      inputs.push_back(torch::cat(read, 1));
      places.push_back(step);
    }
    const auto outputs = encoders_[static_cast<std::size_t>(kind)](torch::stack(inputs)).unbind(0);
    for (std::size_t place = 0; place < places.size(); ++place) encoded[places[place]] = outputs[place];
  }
  return encoded;
}

torch::Tensor Scan::look(const torch::Tensor& encoded, const torch::Tensor& state) {
  const auto remembered = from_state_(state);
  return torch::relu(encoded.defined() ? encoded + remembered : remembered);
}

torch::Tensor Scan::emit(const ReadingStep& step, const torch::Tensor& seen) {
  auto& head = heads_[static_cast<std::size_t>(step.kind)];
  if (head.is_empty()) return torch::zeros({seen.size(0), 1}, seen.options());  // a domain of one value
  return full_precision(head(torch::relu(before_head_(seen)))).log_softmax(1);
}

torch::Tensor Scan::move(const ReadingStep& step, const torch::Tensor& seen, const torch::Tensor& values) {
  auto next = before_move_(seen);
  auto& told = told_[static_cast<std::size_t>(step.kind)];
  if (values.defined() && !told.is_empty()) next = next + told(values);
  return norm_(move_(torch::relu(next)));
}

torch::Tensor Scan::log_prob(const Context& context, const torch::Tensor& values) {
  const auto& beliefs = context.beliefs;
  const auto& steps = reading_.steps();
  const auto encoded = encode(beliefs);
  auto state = first_state_.expand({beliefs.size(0), -1});
  auto total = torch::zeros({beliefs.size(0)}, beliefs.options());
  // What each step saw, by kind, so that every head runs once over all its steps.
  std::vector<std::vector<torch::Tensor>> seen(static_cast<std::size_t>(reading_.kinds())), emitted(seen);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto look_here = look(encoded[step], state);
    torch::Tensor value;
    if (steps[step].emits) {
      value = values.select(1, *steps[step].emits);
      seen[static_cast<std::size_t>(steps[step].kind)].push_back(look_here);
      emitted[static_cast<std::size_t>(steps[step].kind)].push_back(value);
    }
    if (step + 1 < steps.size()) state = move(steps[step], look_here, value);
  }
  for (std::size_t kind = 0; kind < seen.size(); ++kind) {
    if (seen[kind].empty() || heads_[kind].is_empty()) continue;
    const auto log_probs =
        full_precision(heads_[kind](torch::relu(before_head_(torch::stack(seen[kind]))))).log_softmax(2);
    total = total + log_probs.gather(2, torch::stack(emitted[kind]).unsqueeze(2)).squeeze(2).sum(0);
  }
  return total;
}

std::unique_ptr<Rollout> Scan::begin(const Context& context) {
  return std::make_unique<ScanRollout>(*this, context.beliefs);
}

ANESI_ARCHITECTURE("scan", "one recurrent cell shared over the steps of the reading order", ScanOptions,
                   [](const ScanOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto &worlds = problem.worlds(), &outputs = problem.outputs();
                     const auto reading = reading_order_of(problem);
                     return {std::make_shared<Scan>(worlds, outputs, reading, options),
                             explain ? std::make_shared<ScanExplanation>(worlds, outputs, reading, options) : nullptr};
                   });

}  // namespace anesi

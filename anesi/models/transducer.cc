#include "anesi/models/transducer.h"

#include "anesi/models/architecture.h"
#include "anesi/models/transducer_filter.h"

namespace anesi {
namespace {

// Filters through tables that were mixed by the beliefs beforehand. Rows of one example share its tables.
class TransducerRollout final : public Rollout {
 public:
  TransducerRollout(std::vector<torch::Tensor> mixed, const torch::Tensor& initial, const ReadingOrder& reading,
                    std::int64_t batch)
      : mixed_(std::move(mixed)), reading_(reading), state_(initial.expand({batch, -1})) {
    read_until_emission();
  }

  torch::Tensor next_log_probs() override { return joint_.sum(2).log().log_softmax(1); }

  void advance(const torch::Tensor& values) override {
    const auto states = joint_.size(2);
    const auto chosen = joint_.gather(1, values.view({-1, 1, 1}).expand({-1, 1, states})).squeeze(1);  // [rows, states]
    state_ = normalised(chosen);
    ++step_;
    read_until_emission();
  }

  void select(const torch::Tensor& rows) override {
    joint_ = joint_.index_select(0, rows);
    example_ = example_.defined() ? example_.index_select(0, rows) : rows;
  }

 private:
  // Where a state has probability zero altogether its value no longer matters.
  static torch::Tensor normalised(const torch::Tensor& weights) {
    const auto total = weights.sum(1, /*keepdim=*/true);
    return torch::where(total > 0, weights / total,
                        torch::full_like(weights, 1.0 / static_cast<double>(weights.size(1))));
  }

  void read_until_emission() {
    for (; step_ < mixed_.size(); ++step_) {
      auto table = mixed_[step_];  // [examples, emitted, states, next]
      if (example_.defined()) table = table.index_select(0, example_);
      joint_ = state_.unsqueeze(1).unsqueeze(1).matmul(table).squeeze(2);  // [rows, emitted, next]
      if (reading_.steps()[step_].emits) return;
      state_ = normalised(joint_.squeeze(1));
    }
  }

  std::vector<torch::Tensor> mixed_;
  const ReadingOrder& reading_;
  torch::Tensor state_;    // [rows, states]
  torch::Tensor joint_;    // [rows, emitted, next states], of the step whose output is chosen next
  torch::Tensor example_;  // [rows], which example a row belongs to; undefined while rows are the examples
  std::size_t step_ = 0;
};

}  // namespace

Transducer::Transducer(const Space&, const Space& outputs, const ReadingOrder& reading,
                       const TransducerOptions& options)
    : SequenceModel(outputs, reading.emitted()), reading_(reading), states_(options.states) {
  initial_logits_ = register_parameter("initial", torch::zeros({states_}));
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    table_logits_.push_back(
        register_parameter("table" + std::to_string(index),
                           torch::randn({kind.combinations(), states_, kind.emit_domain * states_}) * 0.5));
  }
}

torch::Tensor Transducer::initial() const { return initial_logits_.softmax(0); }

std::vector<torch::Tensor> Transducer::tables() const {
  std::vector<torch::Tensor> tables;
  for (const auto& logits : table_logits_) {
    tables.push_back(logits.softmax(2).view({logits.size(0), states_, -1, states_}).permute({2, 0, 1, 3}).contiguous());
  }
  return tables;
}

torch::Tensor Transducer::log_prob(const torch::Tensor& beliefs, const torch::Tensor& values) {
  return filter_log_prob(beliefs, values, initial(), tables(), reading_);
}

std::unique_ptr<Rollout> Transducer::begin(const torch::Tensor& beliefs) {
  return std::make_unique<TransducerRollout>(mix_tables(beliefs, tables(), reading_), initial(), reading_,
                                             beliefs.size(0));
}

ANESI_ARCHITECTURE("transducer", "a learned finite-state transducer, multilinear in the beliefs", TransducerOptions,
                   [](const Problem& problem, const TransducerOptions& options) {
                     return std::make_shared<Transducer>(problem.worlds(), problem.outputs(), problem.reading_order(),
                                                         options);
                   });

}  // namespace anesi

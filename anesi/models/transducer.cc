#include "anesi/models/transducer.h"

#include <cmath>
#include <numeric>

#include "anesi/models/architecture.h"
#include "anesi/models/transducer_filter.h"

namespace anesi {
namespace {

// Filters through tables that were mixed by the beliefs beforehand. Rows of one example share its tables. Written on
// plain arrays: a row's step is a few dozen multiplications, far less than a tensor operation costs to call.
class TransducerRollout final : public Rollout {
 public:
  TransducerRollout(std::vector<torch::Tensor> mixed, const torch::Tensor& initial, const ReadingOrder& reading,
                    std::int64_t batch, torch::Device device)
      : mixed_(std::move(mixed)), reading_(reading), states_(initial.size(0)), device_(device) {
    const auto* const start = initial.const_data_ptr<float>();
    for (std::int64_t row = 0; row < batch; ++row) {
      state_.insert(state_.end(), start, start + states_);
      example_.push_back(row);
    }
    read_until_emission();
  }

  torch::Tensor next_log_probs() override {
    const auto rows = static_cast<std::int64_t>(example_.size());
    auto result = torch::empty({rows, emitted_});
    auto* out = result.mutable_data_ptr<float>();
    const float* joint = joint_.data();
    for (std::int64_t row = 0; row < rows; ++row, out += emitted_) {
      float total = 0;
      for (std::int64_t y = 0; y < emitted_; ++y, joint += states_)
        total += out[y] = std::accumulate(joint, joint + states_, 0.0F);
      for (std::int64_t y = 0; y < emitted_; ++y) out[y] = std::log(out[y] / total);
    }
    return result.to(device_);
  }

  void advance(const torch::Tensor& values) override {
    const auto chosen = values.to(torch::kCPU).contiguous();
    const auto* const value = chosen.const_data_ptr<std::int64_t>();
    for (std::size_t row = 0; row < example_.size(); ++row) {
      const auto at = static_cast<std::int64_t>(row) * emitted_ + value[row];
      set_state(row, joint_.data() + at * states_);
    }
    ++step_;
    read_until_emission();
  }

  void select(const torch::Tensor& rows) override {
    const auto chosen = rows.to(torch::kCPU).contiguous();
    const auto* const row = chosen.const_data_ptr<std::int64_t>();
    const auto width = static_cast<std::size_t>(emitted_ * states_);
    std::vector<float> joint(static_cast<std::size_t>(chosen.numel()) * width);
    std::vector<std::int64_t> example;
    for (std::int64_t index = 0; index < chosen.numel(); ++index) {
      const auto source = static_cast<std::size_t>(row[index]);
      std::copy_n(joint_.data() + source * width, width, joint.data() + static_cast<std::size_t>(index) * width);
      example.push_back(example_[source]);
    }
    state_.resize(example.size() * static_cast<std::size_t>(states_));
    joint_ = std::move(joint);
    example_ = std::move(example);
  }

 private:
  // Where a row has probability zero altogether its state no longer matters.
  void set_state(std::size_t row, const float* weights) {
    float* const state = state_.data() + row * static_cast<std::size_t>(states_);
    const float total = std::accumulate(weights, weights + states_, 0.0F);
    for (std::int64_t to = 0; to < states_; ++to) {
      state[to] = total > 0 ? weights[to] / total : 1 / static_cast<float>(states_);
    }
  }

  void read_until_emission() {
    for (; step_ < mixed_.size(); ++step_) {
      const auto& table = mixed_[step_];  // [examples, emitted, states, next states]
      emitted_ = table.size(1);
      const auto block = states_ * states_;
      joint_.assign(example_.size() * static_cast<std::size_t>(emitted_ * states_), 0.0F);
      const auto* const tables = table.const_data_ptr<float>();
      float* joint = joint_.data();
      for (std::size_t row = 0; row < example_.size(); ++row) {
        const float* const state = state_.data() + row * static_cast<std::size_t>(states_);
        const float* move = tables + example_[row] * emitted_ * block;
        for (std::int64_t y = 0; y < emitted_; ++y, joint += states_) {
          for (std::int64_t from = 0; from < states_; ++from, move += states_) {
            for (std::int64_t to = 0; to < states_; ++to) joint[to] += state[from] * move[to];
          }
        }
      }
      if (reading_.steps()[step_].emits) return;
      for (std::size_t row = 0; row < example_.size(); ++row) {
        set_state(row, joint_.data() + row * static_cast<std::size_t>(states_));
      }
    }
  }

  std::vector<torch::Tensor> mixed_;
  const ReadingOrder& reading_;
  std::int64_t states_;
  torch::Device device_;
  std::vector<float> state_;           // [rows, states]
  std::vector<float> joint_;           // [rows, emitted, next states], of the step whose output is chosen next
  std::int64_t emitted_ = 0;           // size of that output's domain
  std::vector<std::int64_t> example_;  // [rows], which belief a row belongs to
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
  const torch::NoGradGuard no_gradients;
  return std::make_unique<TransducerRollout>(mix_tables(beliefs, tables(), reading_),
                                             initial().to(torch::kCPU).contiguous(), reading_, beliefs.size(0),
                                             beliefs.device());
}

ANESI_ARCHITECTURE("transducer", "a learned finite-state transducer, multilinear in the beliefs", TransducerOptions,
                   [](const Problem& problem, const TransducerOptions& options) {
                     return std::make_shared<Transducer>(problem.worlds(), problem.outputs(), problem.reading_order(),
                                                         options);
                   });

}  // namespace anesi

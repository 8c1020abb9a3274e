#include "anesi/models/finite_state.h"

#include <cmath>
#include <numeric>

#include "anesi/models/finite_state_posterior.h"
#include "anesi/models/transducer_filter.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// Filters through tables that were mixed by the beliefs beforehand. Rows of one example share its tables. Written on
// plain arrays: a row's step is a few dozen multiplications, far less than a tensor operation costs to call.
class FilterRollout final : public Rollout {
 public:
  FilterRollout(std::vector<torch::Tensor> mixed, const torch::Tensor& initial, const ReadingOrder& reading,
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

class FiniteStateExplanation final : public SequenceModel {
 public:
  FiniteStateExplanation(std::shared_ptr<FiniteStateModel> model, const Space& worlds)
      : SequenceModel(worlds, model->reading().read()), model_(std::move(model)) {}

  // q(w|y,P) = p(w|P) q(y|w) / q(y|P), which is the joint that multilinearity gives, divided by what it sums to.
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    const auto given_world = model_->log_prob(certain_beliefs(values, space()), context.outputs);
    return world_log_prob(context.beliefs, values) + given_world - model_->log_prob(context.beliefs, context.outputs);
  }

  std::unique_ptr<Rollout> begin(const Context& context) override {
    return begin_explanation(evidence_of(context), model_->reading());
  }
  bool rollouts_have_gradients() const override { return false; }

  std::optional<MostProbable> most_probable(const Context& context) override {
    return most_probable_worlds(evidence_of(context), model_->reading());
  }

 private:
  FiniteStateEvidence evidence_of(const Context& context) const {
    const torch::NoGradGuard no_gradients;
    return {context.beliefs, context.outputs, model_->initial(), model_->tables()};
  }

  std::shared_ptr<FiniteStateModel> model_;  // not a submodule: its weights are the prediction model's
};

}  // namespace

torch::Tensor FiniteStateModel::log_prob(const Context& context, const torch::Tensor& values) {
  return filter_log_prob(context.beliefs, values, initial(), tables(), reading_);
}

std::unique_ptr<Rollout> FiniteStateModel::begin(const Context& context) {
  const torch::NoGradGuard no_gradients;
  return std::make_unique<FilterRollout>(mix_tables(context.beliefs, tables(), reading_),
                                         initial().to(torch::kCPU, torch::kFloat32).contiguous(), reading_,
                                         context.size(), context.beliefs.device());
}

std::shared_ptr<SequenceModel> make_explanation(std::shared_ptr<FiniteStateModel> model, const Space& worlds) {
  return std::make_shared<FiniteStateExplanation>(std::move(model), worlds);
}

}  // namespace anesi

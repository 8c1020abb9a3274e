#include "anesi/models/automaton_posterior.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/models/combination_rollout.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

constexpr std::int64_t kRowsPerThread = 4;

// In one state, since what it chose decides that.
struct ExplainedRow : WeighedCombinations {
  std::int64_t example = 0, state = 0;
};

class AutomatonExplanationRollout final : public CombinationRollout<ExplainedRow> {
 public:
  AutomatonExplanationRollout(AutomatonRows examples, torch::TensorOptions options)
      : CombinationRollout(options), examples_(std::move(examples)), messages_(as_size(examples_.size())) {
    rows_.resize(as_size(examples_.size()));
    parallel_for(examples_.size(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        if (!examples_[row].messages(messages_[as_size(row)])) examples_[row].throw_impossible();
        rows_[as_size(row)].example = row;
        rows_[as_size(row)].state = examples_.machine().automaton().start();
      }
    });
    enter_step();
  }

 private:
  const std::vector<PlannedStep>& steps() const override { return examples_.machine().steps(); }

  void weigh(std::size_t step) override {
    for (auto& row : rows_) {
      examples_[row.example].weigh(step, row.state, messages_[as_size(row.example)], row.weights);
    }
  }

  void leave(std::size_t step) override {
    const auto& table = examples_.machine().table(step);
    for (auto& row : rows_) row.state = table.next[as_size(row.state * steps()[step].combinations + row.combination)];
  }

  AutomatonRows examples_;
  std::vector<AutomatonRow::Messages> messages_;  // one an example
};

// Each row has a distribution over states.
class AutomatonPredictionRollout final : public Rollout {
 public:
  AutomatonPredictionRollout(AutomatonRows examples, torch::TensorOptions options)
      : examples_(std::move(examples)), options_(options) {
    rows_.resize(as_size(examples_.size()));
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].example = static_cast<std::int64_t>(row);
      rows_[row].states.assign(as_size(examples_.machine().width(0)), 0);
      rows_[row].states[as_size(examples_.machine().automaton().start())] = 1;
    }
    read_until_emission();
  }

  torch::Tensor next_log_probs() override {
    const auto& step = examples_.machine().steps()[step_];
    auto result = torch::zeros({static_cast<std::int64_t>(rows_.size()), step.emitted}, torch::kFloat64);
    auto* const out = result.mutable_data_ptr<double>();
    for_each_row([&](std::size_t index, Row& row, std::vector<double>& weights) {
      auto* const shares = out + static_cast<std::int64_t>(index) * step.emitted;
      examples_[row.example].weights(step_, weights);
      const auto* emits = examples_.machine().table(step_).emits.data();
      for (const double here : row.states) {
        for (const double weight : weights) shares[*emits++] += here * weight;
      }
    });
    const auto total = result.sum(1, /*keepdim=*/true);
    return torch::where(total > 0, result / total, 1 / static_cast<double>(step.emitted)).log().to(options_);
  }

  void advance(const torch::Tensor& values) override {
    const auto chosen = values_of(values);
    for_each_row([&](std::size_t index, Row& row, std::vector<double>& weights) { move(row, chosen[index], weights); });
    ++step_;
    read_until_emission();
  }

  void select(const torch::Tensor& rows) override {
    std::vector<Row> kept;
    for (const auto row : values_of(rows)) kept.push_back(rows_[as_size(row)]);
    rows_ = std::move(kept);
  }

 private:
  struct Row {
    std::int64_t example = 0;
    std::vector<double> states;
  };

  void for_each_row(const std::function<void(std::size_t, Row&, std::vector<double>&)>& body) {
    parallel_for(static_cast<std::int64_t>(rows_.size()), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights;
      for (auto row = begin; row < end; ++row) body(as_size(row), rows_[as_size(row)], weights);
    });
  }

  // Where a row has probability zero altogether its state no longer matters.
  void move(Row& row, std::int64_t y, std::vector<double>& weights) const {
    examples_[row.example].weights(step_, weights);
    const auto& table = examples_.machine().table(step_);
    std::vector<double> next(as_size(examples_.machine().width(step_ + 1)), 0);
    std::size_t entry = 0;
    for (const double here : row.states) {
      for (const double weight : weights) {
        if (admits(y, table.emits[entry])) next[as_size(table.next[entry])] += here * weight;
        ++entry;
      }
    }
    const double total = std::accumulate(next.begin(), next.end(), 0.0);
    for (auto& share : next) share = total > 0 ? share / total : 1 / static_cast<double>(next.size());
    row.states = std::move(next);
  }

  void read_until_emission() {
    for (; step_ < examples_.machine().steps().size() && examples_.machine().steps()[step_].emits < 0; ++step_) {
      for_each_row([&](std::size_t, Row& row, std::vector<double>& weights) { move(row, kUnset, weights); });
    }
  }

  AutomatonRows examples_;
  torch::TensorOptions options_;
  std::vector<Row> rows_;
  std::size_t step_ = 0;
};

}  // namespace

std::unique_ptr<Rollout> begin_explanation(AutomatonRows examples, torch::TensorOptions options) {
  return std::make_unique<AutomatonExplanationRollout>(std::move(examples), options);
}

std::unique_ptr<Rollout> begin_prediction(AutomatonRows examples, torch::TensorOptions options) {
  return std::make_unique<AutomatonPredictionRollout>(std::move(examples), options);
}

}  // namespace anesi

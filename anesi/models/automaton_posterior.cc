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

class ExplanationRollout final : public CombinationRollout<ExplainedRow> {
 public:
  ExplanationRollout(AutomatonPass pass, torch::TensorOptions options)
      : CombinationRollout(options), pass_(std::move(pass)), messages_(as_size(pass_.batch())) {
    rows_.resize(as_size(pass_.batch()));
    parallel_for(pass_.batch(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights;
      for (auto row = begin; row < end; ++row) {
        if (!pass_.messages(row, messages_[as_size(row)], weights)) pass_.throw_impossible(row);
        rows_[as_size(row)].example = row;
        rows_[as_size(row)].state = pass_.automaton().start();
      }
    });
    enter_step();
  }

 private:
  const std::vector<PlannedStep>& steps() const override { return pass_.steps(); }

  void weigh(std::size_t step) override {
    for (auto& row : rows_) pass_.weigh(row.example, step, row.state, messages_[as_size(row.example)], row.weights);
  }

  void leave(std::size_t step) override {
    const auto& table = pass_.table(step);
    for (auto& row : rows_) row.state = table.next[as_size(row.state * steps()[step].combinations + row.combination)];
  }

  AutomatonPass pass_;
  std::vector<AutomatonPass::Messages> messages_;  // one an example
};

// Each row has a distribution over states.
class PredictionRollout final : public Rollout {
 public:
  PredictionRollout(AutomatonPass pass, torch::TensorOptions options) : pass_(std::move(pass)), options_(options) {
    rows_.resize(as_size(pass_.batch()));
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].example = static_cast<std::int64_t>(row);
      rows_[row].states.assign(as_size(pass_.automaton().widths()[0]), 0);
      rows_[row].states[as_size(pass_.automaton().start())] = 1;
    }
    read_until_emission();
  }

  torch::Tensor next_log_probs() override {
    const auto& step = pass_.steps()[step_];
    auto result = torch::zeros({static_cast<std::int64_t>(rows_.size()), step.emitted}, torch::kFloat64);
    auto* const out = result.mutable_data_ptr<double>();
    for_each_row([&](std::size_t index, Row& row, std::vector<double>& weights) {
      auto* const shares = out + static_cast<std::int64_t>(index) * step.emitted;
      pass_.weights(row.example, step_, weights);
      const auto* emits = pass_.table(step_).emits.data();
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
    pass_.weights(row.example, step_, weights);
    const auto& table = pass_.table(step_);
    std::vector<double> next(as_size(pass_.automaton().widths()[step_ + 1]), 0);
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
    for (; step_ < pass_.steps().size() && pass_.steps()[step_].emits < 0; ++step_) {
      for_each_row([&](std::size_t, Row& row, std::vector<double>& weights) { move(row, kUnset, weights); });
    }
  }

  AutomatonPass pass_;
  torch::TensorOptions options_;
  std::vector<Row> rows_;
  std::size_t step_ = 0;
};

}  // namespace

MostProbable most_probable_worlds(const AutomatonPass& pass) {
  const auto steps = pass.steps().size();
  const auto& widths = pass.automaton().widths();
  auto worlds = torch::zeros({pass.batch(), pass.variables()}, torch::kInt64);
  auto log_probs = torch::empty({pass.batch()}, torch::kFloat64);
  parallel_for(pass.batch(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights, after, before;
    std::vector<std::int32_t> choices(pass.offsets().back());  // the best combination in each state before each step
    for (auto row = begin; row < end; ++row) {
      after.assign(as_size(widths.back()), 0);
      for (auto step = steps; step-- > 0;) {
        pass.log_weights(row, step, weights);
        const auto& table = pass.table(step);
        const auto y = pass.emission(row, step);
        before.assign(as_size(widths[step]), kLogOfZero);
        std::size_t entry = 0;
        for (std::size_t state = 0; state < before.size(); ++state) {
          for (std::size_t c = 0; c < weights.size(); ++c, ++entry) {
            if (!admits(y, table.emits[entry])) continue;
            const double value = weights[c] + after[as_size(table.next[entry])];
            if (value <= before[state]) continue;
            before[state] = value;
            choices[pass.offsets()[step] + state] = static_cast<std::int32_t>(c);
          }
        }
        after.swap(before);
      }
      auto state = pass.automaton().start();
      double total = after[as_size(state)];
      auto* const world = worlds.mutable_data_ptr<std::int64_t>() + row * pass.variables();
      if (total != kLogOfZero) {
        total = 0;
        for (std::size_t step = 0; step < steps; ++step) {
          const auto& planned = pass.steps()[step];
          const auto chosen = choices[pass.offsets()[step] + as_size(state)];
          write_combination(planned, chosen, world);
          state = pass.table(step).next[as_size(state * planned.combinations + chosen)];
          for (const auto variable : planned.reads)
            total += pass.logs_of(row)[variable * pass.width() + world[variable]];
        }
      }
      log_probs.mutable_data_ptr<double>()[row] = total;
    }
  });
  return {worlds, log_probs};
}

torch::Tensor sample_worlds(const AutomatonPass& pass, const at::Generator& generator) {
  const auto steps = static_cast<std::int64_t>(pass.steps().size());
  auto worlds = torch::zeros({pass.batch(), pass.variables()}, torch::kInt64);
  const auto uniforms = torch::rand({pass.batch(), steps}, generator, torch::kFloat64);
  parallel_for(pass.batch(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    AutomatonPass::Messages messages;
    std::vector<double> weights;
    for (auto row = begin; row < end; ++row) {
      if (!pass.messages(row, messages, weights)) pass.throw_impossible(row);
      auto state = pass.automaton().start();
      for (std::int64_t step = 0; step < steps; ++step) {
        const auto& planned = pass.steps()[as_size(step)];
        const auto& table = pass.table(as_size(step));
        pass.weigh(row, as_size(step), state, messages, weights);
        const auto chosen = choose_by_weight(weights.data(), std::ssize(weights),
                                             uniforms.const_data_ptr<double>()[row * steps + step]);
        write_combination(planned, chosen, worlds.mutable_data_ptr<std::int64_t>() + row * pass.variables());
        state = table.next[as_size(state * planned.combinations + chosen)];
      }
    }
  });
  return worlds;
}

std::unique_ptr<Rollout> begin_explanation(AutomatonPass pass, torch::TensorOptions options) {
  return std::make_unique<ExplanationRollout>(std::move(pass), options);
}

std::unique_ptr<Rollout> begin_prediction(AutomatonPass pass, torch::TensorOptions options) {
  return std::make_unique<PredictionRollout>(std::move(pass), options);
}

}  // namespace anesi

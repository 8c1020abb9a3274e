#include "anesi/models/finite_state_posterior.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/planned_step.h"
#include "anesi/models/combination_rollout.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// A machine and its evidence as plain arrays. Tables carry one more slice, the sum of all others, for outputs that are
// left open.
class Machine {
 public:
  using Step = PlannedStep;

  Machine(const FiniteStateEvidence& evidence, const ReadingOrder& reading)
      : steps(planned_steps(reading)),
        states(evidence.initial.size(0)),
        batch_(evidence.beliefs.size(0)),
        variables_(evidence.beliefs.size(1)),
        width_(evidence.beliefs.size(2)),
        beliefs_(evidence.beliefs.detach().to(torch::kCPU, torch::kFloat64).contiguous()),
        outputs_(evidence.outputs.to(torch::kCPU).contiguous()),
        initial_(evidence.initial.detach().to(torch::kCPU, torch::kFloat64).contiguous()) {
    for (const auto& table : evidence.tables) {
      const auto wide = table.detach().to(torch::kCPU, torch::kFloat64);
      tables_.push_back(torch::cat({wide, wide.sum(0, true)}).contiguous());
    }
    for (const auto& step : steps) largest_combinations = std::max(largest_combinations, step.combinations);
    if (outputs_.dim() != 2 || outputs_.size(0) != batch_ || outputs_.size(1) < reading_outputs(reading)) {
      throw Error(
          fmt::format("explanation: outputs of shape ({}) for {} beliefs", fmt::join(outputs_.sizes(), ", "), batch_));
    }
  }

  std::int64_t batch() const { return batch_; }
  std::int64_t variables() const { return variables_; }
  const double* initial() const { return initial_.const_data_ptr<double>(); }

  double belief(std::int64_t row, std::int64_t variable, std::int64_t value) const {
    return beliefs_.const_data_ptr<double>()[(row * variables_ + variable) * width_ + value];
  }

  // The table of a step at a row's output, [combinations, states, next states].
  const double* slice(std::int64_t row, const Step& step) const {
    auto y = step.emits < 0 ? 0 : outputs_.const_data_ptr<std::int64_t>()[row * outputs_.size(1) + step.emits];
    if (y != kUnset && (y < 0 || y >= step.emitted)) {
      throw Error(
          fmt::format("explanation: output variable {} is {}; it can be 0 to {}", step.emits, y, step.emitted - 1));
    }
    if (y == kUnset) y = step.emitted;
    return tables_[static_cast<std::size_t>(step.kind)].const_data_ptr<double>() +
           y * step.combinations * states * states;
  }

  // The probability of every combination of values read, the last variable running fastest.
  void combination_weights(std::int64_t row, const Step& step, std::vector<double>& weights) const {
    weights.resize(static_cast<std::size_t>(step.combinations));
    anesi::combination_weights(step, beliefs_.const_data_ptr<double>() + row * variables_ * width_, width_, weights);
  }

  // How likely the outputs of the steps from each on are, given the state before it, up to a factor:
  // [steps + 1, states]. False where the row's output is impossible.
  bool backward_messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const {
    const auto r = static_cast<std::size_t>(states);
    messages.assign((steps.size() + 1) * r, 1);
    for (auto index = steps.size(); index-- > 0;) {
      const auto& step = steps[index];
      combination_weights(row, step, weights);
      const double* table = slice(row, step);
      const double* const after = messages.data() + (index + 1) * r;
      double* const before = messages.data() + index * r;
      std::fill(before, before + r, 0.0);
      for (std::int64_t c = 0; c < step.combinations; ++c) {
        const double weight = weights[static_cast<std::size_t>(c)];
        if (weight == 0) {
          table += states * states;
          continue;
        }
        for (std::size_t from = 0; from < r; ++from, table += states) {
          before[from] += weight * std::inner_product(table, table + states, after, 0.0);
        }
      }
      const double largest = *std::max_element(before, before + r);
      if (largest == 0) return false;
      for (std::size_t from = 0; from < r; ++from) before[from] /= largest;
    }
    return std::inner_product(initial(), initial() + states, messages.data(), 0.0) > 0;
  }

  Error impossible(std::int64_t row) const {
    const auto* const output = outputs_.const_data_ptr<std::int64_t>() + row * outputs_.size(1);
    return Error(fmt::format("no world of positive probability gives the output ({})",
                             fmt::join(Values(output, static_cast<std::size_t>(outputs_.size(1))), ", ")));
  }

  std::vector<Step> steps;
  std::int64_t states, largest_combinations = 1;

 private:
  static std::int64_t reading_outputs(const ReadingOrder& reading) {
    return static_cast<std::int64_t>(reading.emitted().size());
  }

  std::int64_t batch_, variables_, width_;
  torch::Tensor beliefs_, outputs_, initial_;
  std::vector<torch::Tensor> tables_;
};

struct FilteredRow : WeighedCombinations {
  std::int64_t example = 0;
  std::vector<double> filtered;  // over states, given the worlds and outputs so far
};

class ExplanationRollout final : public CombinationRollout<FilteredRow> {
 public:
  ExplanationRollout(const FiniteStateEvidence& evidence, const ReadingOrder& reading)
      : CombinationRollout(evidence.beliefs.options()), machine_(evidence, reading) {
    const auto batch = machine_.batch();
    messages_.resize(static_cast<std::size_t>(batch));
    rows_.resize(static_cast<std::size_t>(batch));
    parallel_for(batch, 4, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights;
      for (auto row = begin; row < end; ++row) {
        if (!machine_.backward_messages(row, messages_[static_cast<std::size_t>(row)], weights)) {
          throw machine_.impossible(row);
        }
        auto& state = rows_[static_cast<std::size_t>(row)];
        state.example = row;
        state.filtered.assign(machine_.initial(), machine_.initial() + machine_.states);
      }
    });
    enter_step();
  }

 private:
  const std::vector<PlannedStep>& steps() const override { return machine_.steps; }

  void weigh(std::size_t at) override {
    const auto& step = machine_.steps[at];
    const auto states = machine_.states;
    parallel_for(static_cast<std::int64_t>(rows_.size()), 16, [&](std::int64_t begin, std::int64_t end) {
      for (auto index = begin; index < end; ++index) {
        auto& row = rows_[static_cast<std::size_t>(index)];
        const double* table = machine_.slice(row.example, step);
        const double* const after =
            messages_[static_cast<std::size_t>(row.example)].data() + (at + 1) * static_cast<std::size_t>(states);
        machine_.combination_weights(row.example, step, row.weights);
        for (auto& weight : row.weights) {
          double sum = 0;
          for (std::int64_t from = 0; from < states; ++from, table += states) {
            sum += row.filtered[static_cast<std::size_t>(from)] * std::inner_product(table, table + states, after, 0.0);
          }
          weight *= sum;
        }
      }
    });
  }

  void leave(std::size_t at) override {
    const auto& step = machine_.steps[at];
    const auto states = machine_.states;
    std::vector<double> next(static_cast<std::size_t>(states));
    for (auto& row : rows_) {
      const double* table = machine_.slice(row.example, step) + row.combination * states * states;
      std::fill(next.begin(), next.end(), 0.0);
      for (std::int64_t from = 0; from < states; ++from, table += states) {
        for (std::int64_t to = 0; to < states; ++to) {
          next[static_cast<std::size_t>(to)] += row.filtered[static_cast<std::size_t>(from)] * table[to];
        }
      }
      const double total = std::accumulate(next.begin(), next.end(), 0.0);
      for (std::size_t to = 0; to < next.size(); ++to) {
        row.filtered[to] = total > 0 ? next[to] / total : 1 / static_cast<double>(states);
      }
    }
  }

  Machine machine_;
  std::vector<std::vector<double>> messages_;  // one an example
};

}  // namespace

MostProbable most_probable_worlds(const FiniteStateEvidence& evidence, const ReadingOrder& reading) {
  const Machine machine(evidence, reading);
  const auto batch = machine.batch(), r = machine.states;
  auto worlds = torch::zeros({batch, machine.variables()}, torch::kInt64);
  auto log_probs = torch::empty({batch}, torch::kFloat64);
  auto* const world_rows = worlds.mutable_data_ptr<std::int64_t>();
  auto* const log_prob = log_probs.mutable_data_ptr<double>();
  parallel_for(batch, 4, [&](std::int64_t begin, std::int64_t end) {
    const auto steps = machine.steps.size();
    std::vector<double> weights, best((steps + 1) * static_cast<std::size_t>(r));
    struct Choice {
      std::int64_t combination = 0, next = 0;
    };
    std::vector<Choice> choices(steps * static_cast<std::size_t>(r));
    for (auto row = begin; row < end; ++row) {
      std::fill(best.begin(), best.end(), 0.0);
      for (auto index = steps; index-- > 0;) {
        const auto& step = machine.steps[index];
        machine.combination_weights(row, step, weights);
        const double* table = machine.slice(row, step);
        const double* const after = best.data() + (index + 1) * static_cast<std::size_t>(r);
        double* const before = best.data() + index * static_cast<std::size_t>(r);
        std::fill(before, before + r, kImpossible);
        for (std::int64_t c = 0; c < step.combinations; ++c) {
          const double log_weight = std::log(weights[static_cast<std::size_t>(c)]);
          for (std::int64_t from = 0; from < r; ++from, table += r) {
            for (std::int64_t to = 0; to < r; ++to) {
              if (table[to] == 0) continue;
              const double value = log_weight + std::log(table[to]) + after[to];
              if (value > before[from]) {
                before[from] = value;
                choices[index * static_cast<std::size_t>(r) + static_cast<std::size_t>(from)] = {c, to};
              }
            }
          }
        }
      }
      std::int64_t state = 0;
      double value = kImpossible;
      for (std::int64_t from = 0; from < r; ++from) {
        const double candidate = std::log(machine.initial()[from]) + best[static_cast<std::size_t>(from)];
        if (candidate > value) {
          value = candidate;
          state = from;
        }
      }
      auto* const world = world_rows + row * machine.variables();
      double total = value == kImpossible ? kImpossible : 0;
      for (std::size_t index = 0; index < steps && value != kImpossible; ++index) {
        const auto& choice = choices[index * static_cast<std::size_t>(r) + static_cast<std::size_t>(state)];
        write_combination(machine.steps[index], choice.combination, world);
        state = choice.next;
        for (const auto variable : machine.steps[index].reads) {
          total += std::log(machine.belief(row, variable, world[variable]));
        }
      }
      log_prob[row] = total;
    }
  });
  return {worlds.to(evidence.beliefs.device()), log_probs};
}

torch::Tensor sample_worlds(const FiniteStateEvidence& evidence, const ReadingOrder& reading, at::Generator generator) {
  const Machine machine(evidence, reading);
  const auto batch = machine.batch(), r = machine.states, steps = static_cast<std::int64_t>(machine.steps.size());
  auto worlds = torch::zeros({batch, machine.variables()}, torch::kInt64);
  auto* const world_rows = worlds.mutable_data_ptr<std::int64_t>();
  const auto uniforms = torch::rand({batch, steps + 1}, generator, torch::kFloat64);
  const auto* const uniform = uniforms.const_data_ptr<double>();
  parallel_for(batch, 4, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> messages, weights, start(static_cast<std::size_t>(r)), joint;
    for (auto row = begin; row < end; ++row) {
      if (!machine.backward_messages(row, messages, weights)) throw machine.impossible(row);
      for (std::int64_t state = 0; state < r; ++state) {
        start[static_cast<std::size_t>(state)] = machine.initial()[state] * messages[static_cast<std::size_t>(state)];
      }
      auto state = choose_by_weight(start.data(), r, uniform[row * (steps + 1)]);
      for (std::int64_t index = 0; index < steps; ++index) {
        const auto& step = machine.steps[static_cast<std::size_t>(index)];
        machine.combination_weights(row, step, weights);
        const double* const table = machine.slice(row, step);
        const double* const after = messages.data() + (index + 1) * r;
        joint.resize(static_cast<std::size_t>(step.combinations * r));
        for (std::int64_t c = 0; c < step.combinations; ++c) {
          for (std::int64_t to = 0; to < r; ++to) {
            joint[static_cast<std::size_t>(c * r + to)] =
                weights[static_cast<std::size_t>(c)] * table[(c * r + state) * r + to] * after[to];
          }
        }
        const auto chosen =
            choose_by_weight(joint.data(), step.combinations * r, uniform[row * (steps + 1) + index + 1]);
        write_combination(step, chosen / r, world_rows + row * machine.variables());
        state = chosen % r;
      }
    }
  });
  return worlds.to(evidence.beliefs.device());
}

std::unique_ptr<Rollout> begin_explanation(const FiniteStateEvidence& evidence, const ReadingOrder& reading) {
  return std::make_unique<ExplanationRollout>(evidence, reading);
}

}  // namespace anesi

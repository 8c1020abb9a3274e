#include "anesi/exact/automaton_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/vectorized.h"
#include "anesi/exact/lanes.h"

namespace anesi {
namespace {

constexpr double kTinyLogWeight = -200;

Space read_by(const std::vector<PlannedStep>& steps, std::size_t variables) {
  std::vector<std::int64_t> domains(variables);
  for (const auto& step : steps) {
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      domains[as_size(step.reads[index])] = step.domains[index];
    }
  }
  return Space(std::move(domains));
}

Space emitted_by(const std::vector<PlannedStep>& steps, std::size_t variables) {
  std::vector<std::int64_t> domains(variables);
  for (const auto& step : steps) {
    if (step.emits >= 0) domains[as_size(step.emits)] = step.emitted;
  }
  return Space(std::move(domains));
}

ANESI_VECTORIZED void exp_of_each(double* values, std::int64_t size) {
  for (std::int64_t begin = 0; begin < size; begin += kLanes) {
    const auto bytes = static_cast<std::size_t>(std::min(kLanes, size - begin)) * sizeof(double);
    Lanes logs{}, exponentials;
    std::memcpy(&logs, values + begin, bytes);
    exp_of(logs, exponentials);
    std::memcpy(values + begin, &exponentials, bytes);
  }
}

double largest_of(const double* values, std::int64_t size) { return *std::max_element(values, values + size); }

// Calls visit(combination, next state) for those moves of a state that emit what is asked for.
template <typename Visit>
void for_each_admitted(const Automaton::Table& table, std::int64_t state, std::int64_t combinations, std::int64_t asked,
                       Visit visit) {
  const auto* const emits = table.emits.data() + state * combinations;
  const auto* const leads = table.next.data() + state * combinations;
  for (std::int64_t c = 0; c < combinations; ++c) {
    if (asked == emits[c] || (asked < 0 && admits(asked, emits[c]))) visit(as_size(c), as_size(leads[c]));
  }
}

}  // namespace

AutomatonSteps::AutomatonSteps(std::shared_ptr<const Automaton> automaton)
    : automaton_(std::move(automaton)),
      steps_(planned_steps(automaton_->reading())),
      worlds_(read_by(steps_, automaton_->reading().read().size())),
      outputs_(emitted_by(steps_, automaton_->reading().emitted().size())) {
  offsets_.push_back(0);
  for (const auto width : automaton_->widths()) offsets_.push_back(offsets_.back() + as_size(width));
  std::size_t most_read = 1;
  for (const auto& step : steps_) most_read = std::max(most_read, step.reads.size());
  least_log_ = kTinyLogWeight / static_cast<double>(most_read);
}

std::int64_t AutomatonRow::emission(std::size_t step) const {
  const auto variable = machine.steps()[step].emits;
  return variable < 0 || output.empty() ? kUnset : output[as_size(variable)];
}

void AutomatonRow::find_shares(double* found) const {
  const auto& worlds = machine.worlds();
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto domain = worlds.domain(variable);
    const auto* const of_values = logs + variable * width;
    const double largest = largest_of(of_values, domain);
    auto* const of_variable = found + variable * width;
    std::fill_n(of_variable, width, kLogOfZero);
    for (std::int64_t value = 0; value < domain && largest != kLogOfZero; ++value) {
      of_variable[value] = of_values[value] - largest;
    }
  }
  exp_of_each(found, worlds.variables() * width);
}

void AutomatonRow::weights(std::size_t step, std::vector<double>& weights) const {
  const auto& planned = machine.steps()[step];
  weights.resize(as_size(planned.combinations));
  combination_weights(planned, shares, width, weights);
}

void AutomatonRow::log_weights(std::size_t step, std::vector<double>& weights) const {
  const auto& planned = machine.steps()[step];
  std::vector<double> longer;
  weights.assign(1, 0);
  for (std::size_t index = 0; index < planned.reads.size(); ++index) {
    const auto* const of_values = logs + planned.reads[index] * width;
    longer.clear();
    for (const double weight : weights) {
      for (std::int64_t value = 0; value < planned.domains[index]; ++value) longer.push_back(weight + of_values[value]);
    }
    weights.swap(longer);
  }
}

bool AutomatonRow::has_tiny_weights() const {
  const auto& worlds = machine.worlds();
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto* const of_values = logs + variable * width;
    const double least = largest_of(of_values, worlds.domain(variable)) + machine.least_log();
    if (std::any_of(of_values, of_values + worlds.domain(variable),
                    [&](double value) { return value < least && value != kLogOfZero; })) {
      return true;
    }
  }
  return false;
}

bool AutomatonRow::linear_messages(std::vector<double>& messages) const {
  const auto& offsets = machine.offsets();
  const auto steps = machine.steps().size();
  std::vector<double> weights;
  messages.assign(offsets.back(), 0);
  std::fill(messages.begin() + static_cast<std::ptrdiff_t>(offsets[steps]), messages.end(), 1.0);
  for (auto step = steps; step-- > 0;) {
    this->weights(step, weights);
    const double* const after = messages.data() + offsets[step + 1];
    double* const before = messages.data() + offsets[step];
    double largest = 0;
    for (std::int64_t state = 0; state < machine.width(step); ++state) {
      double sum = 0;
      for_each_admitted(machine.table(step), state, machine.steps()[step].combinations, emission(step),
                        [&](std::size_t c, std::size_t next) { sum += weights[c] * after[next]; });
      before[state] = sum;
      largest = std::max(largest, sum);
    }
    if (largest == 0) break;
    for (std::int64_t state = 0; state < machine.width(step); ++state) {
      before[state] /= largest;
      if (before[state] != 0 && before[state] < kTinyShare) return false;
    }
  }
  return true;
}

void AutomatonRow::log_messages(std::vector<double>& messages) const {
  const auto& offsets = machine.offsets();
  const auto steps = machine.steps().size();
  std::vector<double> weights;
  messages.assign(offsets.back(), kLogOfZero);
  std::fill(messages.begin() + static_cast<std::ptrdiff_t>(offsets[steps]), messages.end(), 0.0);
  for (auto step = steps; step-- > 0;) {
    log_weights(step, weights);
    const double* const after = messages.data() + offsets[step + 1];
    for (std::int64_t state = 0; state < machine.width(step); ++state) {
      auto& here = messages[offsets[step] + as_size(state)];
      for_each_admitted(machine.table(step), state, machine.steps()[step].combinations, emission(step),
                        [&](std::size_t c, std::size_t next) { here = log_add(here, weights[c] + after[next]); });
    }
  }
}

bool AutomatonRow::messages(Messages& messages) const {
  messages.logarithms = has_tiny_weights() || !linear_messages(messages.values);
  if (messages.logarithms) log_messages(messages.values);
  return messages.values[as_size(machine.automaton().start())] != (messages.logarithms ? kLogOfZero : 0);
}

void AutomatonRow::weigh(std::size_t step, std::int64_t state, const Messages& messages,
                         std::vector<double>& weights) const {
  const auto combinations = machine.steps()[step].combinations;
  const auto* const emits = machine.table(step).emits.data() + state * combinations;
  const auto* const leads = machine.table(step).next.data() + state * combinations;
  const double* const after = messages.values.data() + machine.offsets()[step + 1];
  const auto asked = emission(step);
  if (!messages.logarithms) {
    this->weights(step, weights);
    for (std::int64_t c = 0; c < combinations; ++c) {
      weights[as_size(c)] *= admits(asked, emits[c]) ? after[leads[c]] : 0;
    }
    return;
  }
  log_weights(step, weights);
  double largest = kLogOfZero;
  for (std::int64_t c = 0; c < combinations; ++c) {
    auto& weight = weights[as_size(c)];
    weight = admits(asked, emits[c]) ? weight + after[leads[c]] : kLogOfZero;
    largest = std::max(largest, weight);
  }
  for (auto& weight : weights) weight = weight == kLogOfZero ? 0 : std::exp(weight - largest);
}

// Forward, of each state, the logarithm of how likely the outputs so far are and it is reached; and messages back.
double AutomatonRow::log_prob(double* gradient) const {
  const auto& offsets = machine.offsets();
  const auto steps = machine.steps().size();
  std::vector<double> weights, states(offsets.back(), kLogOfZero);
  states[as_size(machine.automaton().start())] = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    log_weights(step, weights);
    double* const next = states.data() + offsets[step + 1];
    for (std::int64_t state = 0; state < machine.width(step); ++state) {
      const double here = states[offsets[step] + as_size(state)];
      if (here == kLogOfZero) continue;
      for_each_admitted(machine.table(step), state, machine.steps()[step].combinations, emission(step),
                        [&](std::size_t c, std::size_t to) { next[to] = log_add(next[to], here + weights[c]); });
    }
  }
  const double log_prob = log_sum(std::span(states).subspan(offsets[steps]));
  if (gradient == nullptr || log_prob == kLogOfZero) return log_prob;

  std::vector<double> before, after(as_size(machine.width(steps)), 0), of_combination;
  std::vector<std::int64_t> world(as_size(machine.worlds().variables()));
  for (auto step = steps; step-- > 0;) {
    const auto& planned = machine.steps()[step];
    log_weights(step, weights);
    of_combination.assign(weights.size(), kLogOfZero);
    before.assign(as_size(machine.width(step)), kLogOfZero);
    for (std::size_t state = 0; state < before.size(); ++state) {
      const double here = states[offsets[step] + state];
      for_each_admitted(machine.table(step), static_cast<std::int64_t>(state), planned.combinations, emission(step),
                        [&](std::size_t c, std::size_t next) {
                          const double way = weights[c] + after[next];
                          before[state] = log_add(before[state], way);
                          of_combination[c] = log_add(of_combination[c], here + way);
                        });
    }
    for (std::int64_t c = 0; c < planned.combinations; ++c) {
      const double share = std::exp(of_combination[as_size(c)] - log_prob);
      if (share == 0) continue;
      write_combination(planned, c, world.data());
      for (const auto variable : planned.reads) gradient[variable * width + world[as_size(variable)]] += share;
    }
    after.swap(before);
  }
  return log_prob;
}

double AutomatonRow::most_probable(MutableValues world) const {
  const auto steps = machine.steps().size();
  std::vector<double> weights, before, after(as_size(machine.width(steps)), 0);
  std::vector<std::int64_t> choices(machine.offsets().back());  // the best combination in each state before each step
  for (auto step = steps; step-- > 0;) {
    log_weights(step, weights);
    before.assign(as_size(machine.width(step)), kLogOfZero);
    for (std::size_t state = 0; state < before.size(); ++state) {
      for_each_admitted(machine.table(step), static_cast<std::int64_t>(state), machine.steps()[step].combinations,
                        emission(step), [&](std::size_t c, std::size_t next) {
                          const double value = weights[c] + after[next];
                          if (value <= before[state]) return;
                          before[state] = value;
                          choices[machine.offsets()[step] + state] = static_cast<std::int64_t>(c);
                        });
    }
    after.swap(before);
  }
  std::ranges::fill(world, 0);
  auto state = machine.automaton().start();
  if (after[as_size(state)] == kLogOfZero) return kLogOfZero;
  double log_prob = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto& planned = machine.steps()[step];
    const auto chosen = choices[machine.offsets()[step] + as_size(state)];
    write_combination(planned, chosen, world.data());
    state = machine.table(step).next[as_size(state * planned.combinations + chosen)];
    for (const auto variable : planned.reads) log_prob += logs[variable * width + world[as_size(variable)]];
  }
  return log_prob;
}

void AutomatonRow::sample(Random& random, MutableValues world) const {
  Messages messages;
  if (!this->messages(messages)) throw_impossible();
  std::vector<double> weights;
  auto state = machine.automaton().start();
  for (std::size_t step = 0; step < machine.steps().size(); ++step) {
    const auto& planned = machine.steps()[step];
    weigh(step, state, messages, weights);
    const auto chosen = choose_by_weight(weights.data(), std::ssize(weights), random.uniform());
    write_combination(planned, chosen, world.data());
    state = machine.table(step).next[as_size(state * planned.combinations + chosen)];
  }
}

void AutomatonRow::throw_impossible() const {
  throw Error(fmt::format("no world of positive probability gives the output ({})", fmt::join(output, ", ")));
}

AutomatonRows::AutomatonRows(std::shared_ptr<const Automaton> automaton, LogBeliefRows logs, PointRows outputs)
    : machine_(std::move(automaton)),
      size_(logs.size),
      variables_(logs.variables),
      width_(logs.width),
      logs_(logs.data, logs.data + size_ * logs.row_size()),
      shares_(logs_.size()),
      outputs_(outputs) {
  const auto& worlds = machine_.worlds();
  if (variables_ != worlds.variables() || width_ < worlds.largest_domain()) {
    throw Error(fmt::format("automaton: beliefs of shape [{}, {}, {}]; it reads {} variables of up to {} values", size_,
                            variables_, width_, worlds.variables(), worlds.largest_domain()));
  }
  if (outputs.data() != nullptr && (outputs.size() != size_ || outputs.width() != machine_.outputs().variables())) {
    throw Error(fmt::format("automaton: outputs of shape [{}, {}]; [{}, {}] is expected", outputs.size(),
                            outputs.width(), size_, machine_.outputs().variables()));
  }
  for (std::int64_t row = 0; row < size_; ++row) (*this)[row].find_shares(shares_.data() + row * logs.row_size());
}

AutomatonRow AutomatonRows::operator[](std::int64_t row) const {
  const auto place = row * variables_ * width_;
  return {machine_, logs_.data() + place, width_, outputs_.size() == 0 ? Values() : outputs_[row],
          shares_.data() + place};
}

}  // namespace anesi

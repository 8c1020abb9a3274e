#include "anesi/models/automaton_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/tensors/exact_inference.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// Rows that make it worth waking another thread: about a tenth of a millisecond of arithmetic.
std::int64_t grain(const AutomatonPass& pass) {
  constexpr double kWork = 1 << 16;
  double moves = 1;
  for (std::size_t step = 0; step < pass.steps().size(); ++step) {
    moves += static_cast<double>(pass.automaton().widths()[step] * pass.steps()[step].combinations);
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kWork / moves));
}

// States are normalised to one at each step, so what underflows on the way to log p(y|P) is at most e^-700 of all:
// beside a result above this it cannot matter.
constexpr double kSurelyRight = -600;
// Products of numbers that are no smaller than these do not underflow.
constexpr double kTinyShare = 1e-200, kTinyLogWeight = -200;

// Calls visit(combination) for those whose emission is what is asked for.
template <typename Visit>
void for_each_admitted(const std::int32_t* emits, std::int64_t combinations, std::int64_t asked, Visit visit) {
  if (asked == kUnset) {
    for (std::int64_t c = 0; c < combinations; ++c) visit(c);
  } else if (asked >= 0) {
    for (std::int64_t c = 0; c < combinations; ++c) {
      if (emits[c] == asked) visit(c);
    }
  } else {
    for (std::int64_t c = 0; c < combinations; ++c) {
      if (admits(asked, emits[c])) visit(c);
    }
  }
}

// next[s'] = sum of before[s] * weights[c] over the states and combinations that lead to s' and emit y.
void move_forward(const Automaton::Table& table, const std::vector<double>& weights, std::int64_t width,
                  std::int64_t combinations, std::int64_t y, const double* before, double* next) {
  for (std::int64_t state = 0; state < width; ++state) {
    const double here = before[state];
    if (here == 0) continue;
    const auto* const leads = table.next.data() + state * combinations;
    for_each_admitted(table.emits.data() + state * combinations, combinations, y,
                      [&](std::int64_t c) { next[leads[c]] += here * weights[static_cast<std::size_t>(c)]; });
  }
}

// One step of a row's filter; `next` is zero throughout before. Returns what the next states sum to, and divides by it.
double filter_step(const AutomatonPass& pass, std::int64_t row, std::size_t step, const double* before, double* next,
                   std::vector<double>& weights) {
  const auto& widths = pass.automaton().widths();
  pass.weights(row, step, weights);
  move_forward(pass.table(step), weights, widths[step], pass.steps()[step].combinations, pass.emission(row, step),
               before, next);
  const auto width = widths[step + 1];
  const double sum = std::accumulate(next, next + width, 0.0);
  if (sum > 0) {
    for (std::int64_t state = 0; state < width; ++state) next[state] /= sum;
  }
  return sum;
}

// Filters a row: the states before each step and at the end, in places that are zero before, and what each step's sum
// up to. Returns log p.
double filter_row(const AutomatonPass& pass, std::int64_t row, double* states, double* totals,
                  std::vector<double>& weights) {
  const auto& offsets = pass.offsets();
  states[pass.automaton().start()] = 1;
  double log_prob = 0;
  for (std::size_t step = 0; step < pass.steps().size(); ++step) {
    totals[step] = filter_step(pass, row, step, states + offsets[step], states + offsets[step + 1], weights);
    log_prob += std::log(totals[step]);
    if (totals[step] == 0) break;
  }
  return log_prob;
}

// Whether something that might matter underflowed on the way to log_prob.
bool has_lost(const AutomatonPass& pass, std::int64_t row, double log_prob, const double* states) {
  if (log_prob > kSurelyRight) return false;
  return pass.has_tiny_weights(row) || std::any_of(states, states + pass.offsets().back(),
                                                   [](double share) { return share != 0 && share < kTinyShare; });
}

// filter_row() in logarithms: of each state, the logarithm of how likely the outputs so far are and it is reached.
double log_filter_row(const AutomatonPass& pass, std::int64_t row, double* states, std::vector<double>& weights) {
  const auto& offsets = pass.offsets();
  const auto& widths = pass.automaton().widths();
  std::fill(states, states + offsets.back(), kLogOfZero);
  states[pass.automaton().start()] = 0;
  for (std::size_t step = 0; step < pass.steps().size(); ++step) {
    const auto combinations = pass.steps()[step].combinations;
    const auto& table = pass.table(step);
    pass.log_weights(row, step, weights);
    double* const next = states + offsets[step + 1];
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      const double here = states[offsets[step] + static_cast<std::size_t>(state)];
      if (here == kLogOfZero) continue;
      const auto* const leads = table.next.data() + state * combinations;
      for_each_admitted(table.emits.data() + state * combinations, combinations, pass.emission(row, step),
                        [&](std::int64_t c) {
                          next[leads[c]] = log_add(next[leads[c]], here + weights[static_cast<std::size_t>(c)]);
                        });
    }
  }
  double total = kLogOfZero;
  for (auto state = offsets[pass.steps().size()]; state < offsets.back(); ++state)
    total = log_add(total, states[state]);
  return total;
}

// Adds scale * p(w_i = v | y, P) to each place of `gradient`, from the states of log_filter_row() and its result.
void log_gradient_row(const AutomatonPass& pass, std::int64_t row, const double* states, double log_prob, double scale,
                      double* gradient) {
  const auto& offsets = pass.offsets();
  const auto& widths = pass.automaton().widths();
  std::vector<double> weights, before, after(static_cast<std::size_t>(widths.back()), 0);
  std::vector<std::int64_t> world(static_cast<std::size_t>(pass.variables()));
  for (auto step = pass.steps().size(); step-- > 0;) {
    const auto& planned = pass.steps()[step];
    const auto& table = pass.table(step);
    pass.log_weights(row, step, weights);
    std::vector<double> of_combination(weights.size(), kLogOfZero);
    before.assign(static_cast<std::size_t>(widths[step]), kLogOfZero);
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      const double here = states[offsets[step] + static_cast<std::size_t>(state)];
      auto& sum = before[static_cast<std::size_t>(state)];
      const auto* const leads = table.next.data() + state * planned.combinations;
      for_each_admitted(table.emits.data() + state * planned.combinations, planned.combinations,
                        pass.emission(row, step), [&](std::int64_t c) {
                          const auto place = static_cast<std::size_t>(c);
                          const double way = weights[place] + after[static_cast<std::size_t>(leads[c])];
                          sum = log_add(sum, way);
                          of_combination[place] = log_add(of_combination[place], here + way);
                        });
    }
    for (std::int64_t c = 0; c < planned.combinations; ++c) {
      const double share = std::exp(of_combination[static_cast<std::size_t>(c)] - log_prob);
      if (share == 0) continue;
      write_combination(planned, c, world.data());
      for (const auto variable : planned.reads) {
        gradient[variable * pass.width() + world[static_cast<std::size_t>(variable)]] += scale * share;
      }
    }
    after.swap(before);
  }
}

// log p of each row, with room for one step's states alone.
torch::Tensor log_prob_alone(const AutomatonPass& pass) {
  auto result = torch::empty({pass.batch()}, torch::kFloat64);
  auto* const out = result.mutable_data_ptr<double>();
  parallel_for(pass.batch(), grain(pass), [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights, before, next;
    for (auto row = begin; row < end; ++row) {
      before.assign(static_cast<std::size_t>(pass.automaton().widths()[0]), 0);
      before[static_cast<std::size_t>(pass.automaton().start())] = 1;
      out[row] = 0;
      for (std::size_t step = 0; step < pass.steps().size() && !std::isinf(out[row]); ++step) {
        next.assign(static_cast<std::size_t>(pass.automaton().widths()[step + 1]), 0);
        out[row] += std::log(filter_step(pass, row, step, before.data(), next.data(), weights));
        before.swap(next);
      }
      if (out[row] > kSurelyRight) continue;
      std::vector<double> states(pass.offsets().back(), 0), totals(pass.steps().size());
      filter_row(pass, row, states.data(), totals.data(), weights);
      if (has_lost(pass, row, out[row], states.data())) out[row] = log_filter_row(pass, row, states.data(), weights);
    }
  });
  return result;
}

// Carries the pass from forward to backward.
struct PassHolder : torch::CustomClassHolder {
  explicit PassHolder(std::shared_ptr<const AutomatonPass> held) : pass(std::move(held)) {}
  std::shared_ptr<const AutomatonPass> pass;
};

class Filter : public torch::autograd::Function<Filter> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logs,
                               const std::shared_ptr<const AutomatonPass>& held) {
    const auto& pass = *held;
    const auto steps = static_cast<std::int64_t>(pass.steps().size());
    const auto batch = pass.batch(), states = static_cast<std::int64_t>(pass.offsets().back());
    auto result = torch::empty({batch}, torch::kFloat64);
    // What backward needs: the states before each step and at the end, and what each step's sum up to; or, where
    // something underflowed, logarithms of the former.
    auto filtered = torch::zeros({batch, states}, torch::kFloat64);
    auto normalisers = torch::empty({batch, steps}, torch::kFloat64);
    auto in_logs = torch::zeros({batch}, torch::kBool);
    auto* const out = result.mutable_data_ptr<double>();
    parallel_for(batch, grain(pass), [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights;
      for (auto row = begin; row < end; ++row) {
        auto* const all = filtered.mutable_data_ptr<double>() + row * states;
        out[row] = filter_row(pass, row, all, normalisers.mutable_data_ptr<double>() + row * steps, weights);
        if (!has_lost(pass, row, out[row], all)) continue;
        in_logs.mutable_data_ptr<bool>()[row] = true;
        out[row] = log_filter_row(pass, row, all, weights);
      }
    });
    context->save_for_backward({filtered, normalisers, result, in_logs, logs});
    context->saved_data["pass"] = c10::IValue::make_capsule(c10::make_intrusive<PassHolder>(held));
    return result.clone();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto held = c10::static_intrusive_pointer_cast<PassHolder>(context->saved_data["pass"].toCapsule())->pass;
    const auto& pass = *held;
    const auto width = pass.width();
    const auto& offsets = pass.offsets();
    const auto& widths = pass.automaton().widths();
    const auto steps = pass.steps().size();
    const auto states = saved[0].size(1), row_size = pass.variables() * width;
    auto gradient = torch::zeros({pass.batch(), pass.variables(), width}, torch::kFloat64);
    const auto scales = upstream[0].detach().contiguous();
    parallel_for(pass.batch(), grain(pass), [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights, weight_gradient, after, before;
      for (auto row = begin; row < end; ++row) {
        const auto log_prob = saved[2].const_data_ptr<double>()[row], scale = scales.const_data_ptr<double>()[row];
        if (std::isinf(log_prob)) continue;  // log 0: no direction leads out
        const auto* const all = saved[0].const_data_ptr<double>() + row * states;
        auto* const of_row = gradient.mutable_data_ptr<double>() + row * row_size;
        if (saved[3].const_data_ptr<bool>()[row]) {
          log_gradient_row(pass, row, all, log_prob, scale, of_row);
          continue;
        }
        const auto* const total = saved[1].const_data_ptr<double>() + row * static_cast<std::int64_t>(steps);
        // The derivative of the row's loss by each state after a step, in units in which that step's states sum to one.
        after.assign(static_cast<std::size_t>(widths.back()), scale);
        for (auto step = steps; step-- > 0;) {
          const auto& planned = pass.steps()[step];
          const auto& table = pass.table(step);
          const auto combinations = planned.combinations;
          const double* const here = all + offsets[step];
          pass.weights(row, step, weights);
          weight_gradient.assign(weights.size(), 0);
          before.assign(static_cast<std::size_t>(widths[step]), 0);
          for (std::int64_t state = 0; state < widths[step]; ++state) {
            const double share = here[state] / total[step];
            const auto* const leads = table.next.data() + state * combinations;
            double sum = 0;
            for_each_admitted(table.emits.data() + state * combinations, combinations, pass.emission(row, step),
                              [&](std::int64_t c) {
                                const double later = after[static_cast<std::size_t>(leads[c])];
                                sum += weights[static_cast<std::size_t>(c)] * later;
                                weight_gradient[static_cast<std::size_t>(c)] += share * later;
                              });
            before[static_cast<std::size_t>(state)] = sum / total[step];
          }
          combination_weights_backward(planned, pass.beliefs_of(row), width, weight_gradient, of_row);
          after.swap(before);
        }
        // By the logarithm of a probability.
        const auto* const beliefs = pass.beliefs_of(row);
        for (const auto& planned : pass.steps()) {
          for (std::size_t index = 0; index < planned.reads.size(); ++index) {
            const auto first = planned.reads[index] * width;
            for (auto place = first; place < first + planned.domains[index]; ++place) of_row[place] *= beliefs[place];
          }
        }
      }
    });
    return {differentiable_no_further(gradient, saved[4], upstream[0]), {}};
  }
};

}  // namespace

torch::Tensor outputs_of(const Automaton& automaton, const torch::Tensor& worlds) {
  const auto rows = worlds.to(torch::kCPU).contiguous();
  return tensor_of(automaton.run(rows_of(rows)).rows());
}

AutomatonPass::AutomatonPass(std::shared_ptr<const Automaton> automaton, const torch::Tensor& logs,
                             const torch::Tensor& outputs)
    : automaton_(std::move(automaton)), steps_(planned_steps(automaton_->reading())) {
  std::int64_t variables = 0, domain = 0;
  for (const auto& step : steps_) {
    most_read_ = std::max(most_read_, step.reads.size());
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      variables = std::max(variables, step.reads[index] + 1);
      domain = std::max(domain, step.domains[index]);
    }
  }
  if (logs.dim() != 3 || logs.size(1) < variables || logs.size(2) < domain) {
    throw Error(fmt::format("automaton: beliefs of shape ({}); it reads {} variables of up to {} values",
                            fmt::join(logs.sizes(), ", "), variables, domain));
  }
  batch_ = logs.size(0);
  variables_ = logs.size(1);
  width_ = logs.size(2);
  logs_ = logs.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  beliefs_ = logs_.exp();
  const auto emitted = static_cast<std::int64_t>(automaton_->reading().emitted().size());
  if (outputs.defined()) {
    if (outputs.dim() != 2 || outputs.size(0) != batch_ || outputs.size(1) != emitted) {
      throw Error(fmt::format("automaton: outputs of shape ({}); it emits {} for each of {} beliefs",
                              fmt::join(outputs.sizes(), ", "), emitted, batch_));
    }
    outputs_ = outputs.to(torch::kCPU).contiguous();
    const auto* const values = outputs_.const_data_ptr<std::int64_t>();
    for (const auto& step : steps_) {
      if (step.emits < 0) continue;
      for (std::int64_t row = 0; row < batch_; ++row) {
        const auto y = values[row * emitted + step.emits];
        if (y == kUnset || y < other_than(kNone) || (y >= 0 && y < step.emitted)) continue;
        throw Error(
            fmt::format("automaton: output variable {} is {}; it can be 0 to {}", step.emits, y, step.emitted - 1));
      }
    }
  } else {
    outputs_ = torch::full({batch_, emitted}, kUnset, torch::kInt64);
  }
  offsets_.push_back(0);
  for (const auto width : automaton_->widths()) offsets_.push_back(offsets_.back() + static_cast<std::size_t>(width));
}

void AutomatonPass::weights(std::int64_t row, std::size_t step, std::vector<double>& weights) const {
  weights.resize(static_cast<std::size_t>(steps_[step].combinations));
  combination_weights(steps_[step], beliefs_of(row), width_, weights);
}

std::int64_t AutomatonPass::emission(std::int64_t row, std::size_t step) const {
  const auto variable = steps_[step].emits;
  return variable < 0 ? kUnset : outputs_.const_data_ptr<std::int64_t>()[row * outputs_.size(1) + variable];
}

void AutomatonPass::log_weights(std::int64_t row, std::size_t step, std::vector<double>& weights) const {
  const auto& planned = steps_[step];
  const auto* const logs = logs_of(row);
  weights.assign(1, 0);
  for (std::size_t index = 0; index < planned.reads.size(); ++index) {
    const auto* const of_values = logs + planned.reads[index] * width_;
    std::vector<double> longer;
    longer.reserve(weights.size() * static_cast<std::size_t>(planned.domains[index]));
    for (const double weight : weights) {
      for (std::int64_t value = 0; value < planned.domains[index]; ++value) longer.push_back(weight + of_values[value]);
    }
    weights.swap(longer);
  }
}

bool AutomatonPass::has_tiny_weights(std::int64_t row) const {
  const double least = kTinyLogWeight / static_cast<double>(std::max<std::size_t>(1, most_read_));
  const auto* const logs = logs_of(row);
  return std::ranges::any_of(steps_, [&](const PlannedStep& step) {
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      const auto* const of_values = logs + step.reads[index] * width_;
      if (std::any_of(of_values, of_values + step.domains[index],
                      [&](double value) { return value < least && value != kLogOfZero; })) {
        return true;
      }
    }
    return false;
  });
}

bool AutomatonPass::linear_messages(std::int64_t row, std::vector<double>& messages,
                                    std::vector<double>& weights) const {
  const auto& widths = automaton_->widths();
  messages.assign(offsets_.back(), 0);
  std::fill(messages.begin() + static_cast<std::ptrdiff_t>(offsets_[steps_.size()]), messages.end(), 1.0);
  for (auto step = steps_.size(); step-- > 0;) {
    this->weights(row, step, weights);
    const auto& moves = table(step);
    const auto combinations = steps_[step].combinations;
    const double* const after = messages.data() + offsets_[step + 1];
    double* const before = messages.data() + offsets_[step];
    double largest = 0;
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      const auto* const leads = moves.next.data() + state * combinations;
      double sum = 0;
      for_each_admitted(moves.emits.data() + state * combinations, combinations, emission(row, step),
                        [&](std::int64_t c) { sum += weights[static_cast<std::size_t>(c)] * after[leads[c]]; });
      before[state] = sum;
      largest = std::max(largest, sum);
    }
    if (largest == 0) break;
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      before[state] /= largest;
      if (before[state] != 0 && before[state] < kTinyShare) return false;
    }
  }
  return true;
}

void AutomatonPass::log_messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const {
  const auto& widths = automaton_->widths();
  messages.assign(offsets_.back(), kLogOfZero);
  std::fill(messages.begin() + static_cast<std::ptrdiff_t>(offsets_[steps_.size()]), messages.end(), 0.0);
  for (auto step = steps_.size(); step-- > 0;) {
    log_weights(row, step, weights);
    const auto& moves = table(step);
    const auto combinations = steps_[step].combinations;
    const double* const after = messages.data() + offsets_[step + 1];
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      auto& here = messages[offsets_[step] + static_cast<std::size_t>(state)];
      const auto* const leads = moves.next.data() + state * combinations;
      for_each_admitted(
          moves.emits.data() + state * combinations, combinations, emission(row, step),
          [&](std::int64_t c) { here = log_add(here, weights[static_cast<std::size_t>(c)] + after[leads[c]]); });
    }
  }
}

bool AutomatonPass::messages(std::int64_t row, Messages& messages, std::vector<double>& weights) const {
  messages.logarithms = has_tiny_weights(row) || !linear_messages(row, messages.values, weights);
  if (messages.logarithms) log_messages(row, messages.values, weights);
  const auto start = messages.values[static_cast<std::size_t>(automaton_->start())];
  return messages.logarithms ? start != kLogOfZero : start > 0;
}

void AutomatonPass::weigh(std::int64_t row, std::size_t step, std::int64_t state, const Messages& messages,
                          std::vector<double>& weights) const {
  const auto& moves = table(step);
  const auto combinations = steps_[step].combinations;
  const double* const after = messages.values.data() + offsets_[step + 1];
  const auto* const leads = moves.next.data() + state * combinations;
  const auto* const emits = moves.emits.data() + state * combinations;
  const auto asked = emission(row, step);
  if (!messages.logarithms) {
    this->weights(row, step, weights);
    for (std::int64_t c = 0; c < combinations; ++c) {
      weights[static_cast<std::size_t>(c)] *= admits(asked, emits[c]) ? after[leads[c]] : 0;
    }
    return;
  }
  log_weights(row, step, weights);
  double largest = kLogOfZero;
  for (std::int64_t c = 0; c < combinations; ++c) {
    auto& weight = weights[static_cast<std::size_t>(c)];
    weight = admits(asked, emits[c]) ? weight + after[leads[c]] : kLogOfZero;
    largest = std::max(largest, weight);
  }
  for (auto& weight : weights) weight = weight == kLogOfZero ? 0 : std::exp(weight - largest);
}

void AutomatonPass::throw_impossible(std::int64_t row) const {
  const auto* const output = outputs_.const_data_ptr<std::int64_t>() + row * outputs_.size(1);
  throw Error(fmt::format("no world of positive probability gives the output ({})",
                          fmt::join(Values(output, static_cast<std::size_t>(outputs_.size(1))), ", ")));
}

torch::Tensor automaton_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs,
                                 const std::shared_ptr<const Automaton>& automaton) {
  const auto pass = std::make_shared<const AutomatonPass>(automaton, logs, outputs);
  if (!torch::GradMode::is_enabled() || !logs.requires_grad()) return log_prob_alone(*pass);
  return Filter::apply(logs, pass);
}

}  // namespace anesi

#include "anesi/exact/automaton_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

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

// next[s'] = sum of before[s] * weights[c] over the states and combinations that lead to s' and emit y.
void move_forward(const Automaton::Table& table, const std::vector<double>& weights, std::int64_t width,
                  std::int64_t combinations, std::int64_t y, const double* before, double* next) {
  for (std::int64_t state = 0; state < width; ++state) {
    const double here = before[state];
    if (here == 0) continue;
    const auto* const leads = table.next.data() + state * combinations;
    const auto* const emits = table.emits.data() + state * combinations;
    if (y == kUnset) {
      for (std::int64_t c = 0; c < combinations; ++c) next[leads[c]] += here * weights[static_cast<std::size_t>(c)];
    } else {
      for (std::int64_t c = 0; c < combinations; ++c) {
        if (emits[c] == y) next[leads[c]] += here * weights[static_cast<std::size_t>(c)];
      }
    }
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
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& /*beliefs, which the pass holds*/,
                               const std::shared_ptr<const AutomatonPass>& held) {
    const auto& pass = *held;
    const auto& offsets = pass.offsets();
    const auto steps = pass.steps().size();
    const auto batch = pass.batch(), states = static_cast<std::int64_t>(offsets.back());
    auto result = torch::empty({batch}, torch::kFloat64);
    // States before each step and at the end, and what each step's sum up to: only backward needs them all.
    auto filtered = torch::zeros({batch, states}, torch::kFloat64);
    auto normalisers = torch::empty({batch, static_cast<std::int64_t>(steps)}, torch::kFloat64);
    auto* const out = result.mutable_data_ptr<double>();
    parallel_for(batch, grain(pass), [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights;
      for (auto row = begin; row < end; ++row) {
        auto* const all = filtered.mutable_data_ptr<double>() + row * states;
        auto* const total = normalisers.mutable_data_ptr<double>() + row * static_cast<std::int64_t>(steps);
        all[pass.automaton().start()] = 1;
        double log_prob = 0;
        for (std::size_t step = 0; step < steps; ++step) {
          total[step] = filter_step(pass, row, step, all + offsets[step], all + offsets[step + 1], weights);
          log_prob += std::log(total[step]);
          if (total[step] == 0) break;
        }
        out[row] = log_prob;
      }
    });
    context->save_for_backward({filtered, normalisers, result});
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
    const auto scales = upstream[0].contiguous();
    parallel_for(pass.batch(), grain(pass), [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> weights, weight_gradient, after, before;
      for (auto row = begin; row < end; ++row) {
        if (std::isinf(saved[2].const_data_ptr<double>()[row])) continue;  // log 0: no direction leads out
        const auto* const all = saved[0].const_data_ptr<double>() + row * states;
        const auto* const total = saved[1].const_data_ptr<double>() + row * static_cast<std::int64_t>(steps);
        // The derivative of the row's loss by each state after a step, in units in which that step's states sum to one.
        after.assign(static_cast<std::size_t>(widths.back()), scales.const_data_ptr<double>()[row]);
        for (auto step = steps; step-- > 0;) {
          const auto& planned = pass.steps()[step];
          const auto& table = pass.table(step);
          const auto combinations = planned.combinations;
          const auto y = pass.emission(row, step);
          const double* const here = all + offsets[step];
          pass.weights(row, step, weights);
          weight_gradient.assign(weights.size(), 0);
          before.assign(static_cast<std::size_t>(widths[step]), 0);
          for (std::int64_t state = 0; state < widths[step]; ++state) {
            const double share = here[state] / total[step];
            const auto* const leads = table.next.data() + state * combinations;
            const auto* const emits = table.emits.data() + state * combinations;
            double sum = 0;
            for (std::int64_t c = 0; c < combinations; ++c) {
              if (y != kUnset && emits[c] != y) continue;
              const double later = after[static_cast<std::size_t>(leads[c])];
              sum += weights[static_cast<std::size_t>(c)] * later;
              weight_gradient[static_cast<std::size_t>(c)] += share * later;
            }
            before[static_cast<std::size_t>(state)] = sum / total[step];
          }
          combination_weights_backward(planned, pass.beliefs_of(row), width, weight_gradient,
                                       gradient.mutable_data_ptr<double>() + row * row_size);
          after.swap(before);
        }
      }
    });
    return {gradient, {}};
  }
};

}  // namespace

AutomatonPass::AutomatonPass(std::shared_ptr<const Automaton> automaton, const torch::Tensor& beliefs,
                             const torch::Tensor& outputs)
    : automaton_(std::move(automaton)), steps_(planned_steps(automaton_->reading())) {
  std::int64_t variables = 0, domain = 0;
  for (const auto& step : steps_) {
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      variables = std::max(variables, step.reads[index] + 1);
      domain = std::max(domain, step.domains[index]);
    }
  }
  if (beliefs.dim() != 3 || beliefs.size(1) < variables || beliefs.size(2) < domain) {
    throw Error(fmt::format("automaton: beliefs of shape ({}); it reads {} variables of up to {} values",
                            fmt::join(beliefs.sizes(), ", "), variables, domain));
  }
  batch_ = beliefs.size(0);
  variables_ = beliefs.size(1);
  width_ = beliefs.size(2);
  beliefs_ = beliefs.detach().to(torch::kCPU, torch::kFloat64).contiguous();
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
        if (y == kUnset || (y >= 0 && y < step.emitted)) continue;
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

bool AutomatonPass::messages(std::int64_t row, std::vector<double>& messages, std::vector<double>& weights) const {
  const auto& widths = automaton_->widths();
  messages.assign(offsets_.back(), 0);
  std::fill(messages.begin() + static_cast<std::ptrdiff_t>(offsets_[steps_.size()]), messages.end(), 1.0);
  for (auto step = steps_.size(); step-- > 0;) {
    this->weights(row, step, weights);
    const auto& moves = table(step);
    const auto combinations = steps_[step].combinations;
    const auto y = emission(row, step);
    const double* const after = messages.data() + offsets_[step + 1];
    double* const before = messages.data() + offsets_[step];
    double largest = 0;
    for (std::int64_t state = 0; state < widths[step]; ++state) {
      const auto* const leads = moves.next.data() + state * combinations;
      const auto* const emits = moves.emits.data() + state * combinations;
      double sum = 0;
      for (std::int64_t c = 0; c < combinations; ++c) {
        if (y == kUnset || emits[c] == y) sum += weights[static_cast<std::size_t>(c)] * after[leads[c]];
      }
      before[state] = sum;
      largest = std::max(largest, sum);
    }
    if (largest == 0) return false;
    for (std::int64_t state = 0; state < widths[step]; ++state) before[state] /= largest;
  }
  return messages[static_cast<std::size_t>(automaton_->start())] > 0;
}

void AutomatonPass::throw_impossible(std::int64_t row) const {
  const auto* const output = outputs_.const_data_ptr<std::int64_t>() + row * outputs_.size(1);
  throw Error(fmt::format("no world of positive probability gives the output ({})",
                          fmt::join(Values(output, static_cast<std::size_t>(outputs_.size(1))), ", ")));
}

torch::Tensor automaton_log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                 const std::shared_ptr<const Automaton>& automaton) {
  if (!torch::GradMode::is_enabled() || !beliefs.requires_grad()) {
    return log_prob_alone(AutomatonPass(automaton, beliefs, outputs)).to(beliefs.device());
  }
  // Conversions of type and place stand outside of the function that differentiates, so gradients come back as asked.
  const auto doubles = beliefs.to(torch::kCPU, torch::kFloat64);
  const auto pass = std::make_shared<const AutomatonPass>(automaton, doubles, outputs);
  return Filter::apply(doubles, pass).to(beliefs.device());
}

}  // namespace anesi

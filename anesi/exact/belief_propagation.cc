#include "anesi/exact/belief_propagation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/message_passing.h"
#include "anesi/logic/graph_loops.h"

namespace anesi {
namespace {

// The variables whose cases are counted apart.
std::vector<std::int64_t> split_variables(const Space& worlds, const SplittingOrder& order, std::int64_t most_cases) {
  std::vector<std::int64_t> split;
  std::int64_t cases = 1;
  for (std::ptrdiff_t place = 0; place < order.breaking; ++place) {
    const auto variable = order.variables[as_size(place)];
    cases *= worlds.domain(variable);
    if (cases > most_cases) break;
    split.push_back(variable);
  }
  return split;
}

}  // namespace

BeliefPropagation::BeliefPropagation(const FactorGraph& graph, const PropagationOptions& options)
    : worlds_(graph.worlds),
      order_(splitting_order(graph).variables),
      options_(options),
      weights_(graph.weights),
      plan_(graph, split_variables(graph.worlds, splitting_order(graph), options.cases)) {}

// Columns that wait to be counted together: the cases of some rows.
class BeliefPropagation::Block {
 public:
  Block(const BeliefPropagation& owner, LogBeliefRows logs, std::span<const double> weights, std::span<double> counts,
        GradientRows gradient, Rows<double> weight_gradient)
      : owner_(owner),
        plan_(owner.plan_),
        logs_(logs),
        counts_(counts),
        gradient_(gradient),
        weight_gradient_(weight_gradient),
        passing_(plan_, violated_by(plan_, weights), owner.options_.rounds, owner.options_.damping) {
    for (const auto weight : weights) all_hold_ += weight;
    for (auto& start : passing_.weights()) start.fill(0);
  }

  // Counts are -inf, derivatives 0 before.
  void add_row(std::int64_t row) {
    for (std::int64_t index = 0; index < plan_.cases; ++index) {
      double known = 0;
      for (std::size_t place = 0; place < plan_.known.size(); ++place) {
        known += logs_(row, plan_.known[place], plan_.value_in_case(place, index));
      }
      if (known > kLogOfZero) add_column(row, index, known);
    }
  }

  void flush() {
    if (columns_.empty()) return;
    const bool wants_slopes = !gradient_.empty() || weight_gradient_.size() > 0;
    const auto found = passing_.count(wants_slopes);
    if (wants_slopes) passing_.differentiate();
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (found[column] < kImpossible / 2) continue;
      const auto& [row, index, log_weight] = columns_[column];
      auto& total = counts_[as_size(row)];
      const double count = found[column] + log_weight, both = log_add(total, count);
      if (wants_slopes) add_slopes(column, std::exp(total - both), std::exp(count - both));
      total = both;
    }
    columns_.clear();
  }

 private:
  struct Column {
    std::int64_t row, index;
    double log_weight;  // of what is not counted by messages
  };

  static std::vector<double> violated_by(const MessagePlan& plan, std::span<const double> weights) {
    std::vector<double> violated;
    for (const auto& clause : plan.clauses) {
      violated.push_back(clause.weight == FactorGraph::kMustHold ? kImpossible : -weights[as_size(clause.weight)]);
    }
    return violated;
  }

  void add_column(std::int64_t row, std::int64_t index, double log_weight) {
    const auto column = columns_.size();
    log_weight += all_hold_;
    for (std::int64_t variable = 0; variable < owner_.worlds_.variables(); ++variable) {
      if (std::ranges::find(plan_.known, variable) != plan_.known.end()) continue;
      // The largest is 0, so that what counts as impossible is far from all else.
      const auto domain = owner_.worlds_.domain(variable);
      const double* const values = &logs_(row, variable, 0);
      const double largest = *std::max_element(values, values + domain);
      if (largest == kLogOfZero) return;
      log_weight += largest;
      for (std::int64_t value = 0; value < domain; ++value) {
        passing_.weights()[as_size(plan_.first[as_size(variable)] + value)][column] =
            std::max(values[value] - largest, kImpossible);
      }
    }
    passing_.cases()[column] = index;
    columns_.push_back({row, index, log_weight});
    if (columns_.size() == kColumns) flush();
  }

  void add_slopes(std::size_t column, double of_before, double of_column) {
    const auto& [row, index, log_weight] = columns_[column];
    if (!gradient_.empty()) {
      auto* const slopes = gradient_.row(row);
      if (of_before != 1) {
        for (std::int64_t entry = 0; entry < gradient_.row_size(); ++entry) slopes[entry] *= of_before;
      }
      for (std::int64_t variable = 0; variable < owner_.worlds_.variables(); ++variable) {
        const auto first = plan_.first[as_size(variable)];
        for (std::int64_t value = 0; value < owner_.worlds_.domain(variable); ++value) {
          slopes[variable * gradient_.width + value] += of_column * passing_.slopes()[as_size(first + value)][column];
        }
      }
      for (std::size_t place = 0; place < plan_.known.size(); ++place) {
        gradient_(row, plan_.known[place], plan_.value_in_case(place, index)) += of_column;
      }
    }
    if (weight_gradient_.size() == 0) return;
    const auto slopes = weight_gradient_[row];
    for (auto& slope : slopes) slope = slope * of_before + of_column;
    for (std::size_t place = 0; place < plan_.clauses.size(); ++place) {
      const auto weight = plan_.clauses[place].weight;
      if (weight == FactorGraph::kMustHold) continue;
      slopes[as_size(weight)] -= of_column * passing_.clause_slopes()[place][column];
    }
  }

  const BeliefPropagation& owner_;
  const MessagePlan& plan_;
  LogBeliefRows logs_;
  std::span<double> counts_;
  GradientRows gradient_;
  Rows<double> weight_gradient_;
  MessagePassing passing_;
  double all_hold_ = 0;  // weight of a world that satisfies all soft clauses
  std::vector<Column> columns_;
};

void BeliefPropagation::log_count(LogBeliefRows logs, std::span<const double> weights, std::span<double> counts,
                                  GradientRows gradient, Rows<double> weight_gradient) const {
  if (std::ssize(weights) != weights_) {
    throw UsageError(fmt::format("propagation: {} weights for {} soft clauses", weights.size(), weights_));
  }
  std::ranges::fill(counts, kLogOfZero);
  if (!gradient.empty()) std::fill_n(gradient.data, gradient.size * gradient.row_size(), 0.0);
  std::ranges::fill(weight_gradient.values(), 0.0);
  const auto rows_at_once = std::max<std::int64_t>(1, static_cast<std::int64_t>(kColumns) / plan_.cases);
  parallel_for(logs.size, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    Block block(*this, logs, weights, counts, gradient, weight_gradient);
    for (auto row = begin; row < end; ++row) block.add_row(row);
    block.flush();
  });
}

}  // namespace anesi

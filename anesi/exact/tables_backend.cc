#include "anesi/exact/tables_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

constexpr std::int64_t kRowsPerThread = 8;

// An index in proportion to the exponential of its logarithm; -1 if all are impossible.
std::int64_t choose(const double* logs, std::int64_t size, Random& random) {
  const double total = log_sum({logs, as_size(size)});
  if (total == kLogOfZero) return -1;
  double left = random.uniform();
  std::int64_t chosen = -1;
  for (std::int64_t index = 0; index < size && left >= 0; ++index) {
    const double share = std::exp(logs[index] - total);
    if (share == 0) continue;
    chosen = index;
    left -= share;
  }
  return chosen;
}

}  // namespace

// Automatically they are chosen only if they are exact.
std::optional<BackendCost> TablesBackend::applies(const Problem& problem, const ExactOptions& options) {
  const auto* const known = problem.facts().find<OutputTables>();
  if (known == nullptr) return std::nullopt;
  std::vector<bool> used(as_size(problem.worlds().variables()), false);
  BackendCost cost;
  for (const auto& table : known->tables) {
    cost.operations += 10 * static_cast<double>(table.values.size());
    for (const auto variable : table.variables) {
      if (options.method == "auto" && used.at(as_size(variable))) return std::nullopt;
      used.at(as_size(variable)) = true;
    }
  }
  return cost;
}

TablesBackend::TablesBackend(const Problem& problem, const ExactOptions&)
    : Backend(problem.worlds(), problem.outputs()) {
  const auto* const known = problem.facts().find<OutputTables>();
  if (known == nullptr || std::ssize(known->tables) != problem.outputs().variables()) {
    throw UsageError("tables: the problem gives no table for each output");
  }
  tables_ = known->tables;
  std::vector<bool> used(as_size(worlds().variables()), false);
  for (std::size_t output = 0; output < tables_.size(); ++output) {
    const auto& table = tables_[output];
    std::int64_t combinations = 1;
    for (const auto variable : table.variables) {
      if (variable < 0 || variable >= worlds().variables()) {
        throw UsageError(
            fmt::format("tables: a table names world variable {}; there are {}", variable, worlds().variables()));
      }
      if (used[as_size(variable)]) is_exact_ = false;
      used[as_size(variable)] = true;
      combinations *= worlds().domain(variable);
    }
    if (std::ssize(table.values) != combinations) {
      throw UsageError(fmt::format("tables: the table of output {} has {} entries for {} combinations", output,
                                   table.values.size(), combinations));
    }
  }
  for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
    if (!used[as_size(variable)]) unread_.push_back(variable);
  }
}

void TablesBackend::weigh(std::size_t output, const double* logs, std::int64_t width, std::int64_t asked,
                          std::vector<double>& weights) const {
  const auto& table = tables_[output];
  weights.assign(1, 0);
  for (const auto variable : table.variables) {
    const auto domain = worlds().domain(variable);
    const auto before = std::ssize(weights);
    weights.resize(as_size(before * domain));
    for (auto combination = before; combination-- > 0;) {
      const double weight = weights[as_size(combination)];
      for (std::int64_t value = domain; value-- > 0;) {
        weights[as_size(combination * domain + value)] = weight + logs[variable * width + value];
      }
    }
  }
  for (std::size_t combination = 0; combination < weights.size(); ++combination) {
    if (!admits(asked, table.values[combination])) weights[combination] = kLogOfZero;
  }
}

template <typename Visit>
void TablesBackend::for_each_value(const OutputTable& table, std::int64_t combination, Visit visit) const {
  for (auto index = table.variables.size(); index-- > 0;) {
    const auto variable = table.variables[index];
    visit(variable, combination % worlds().domain(variable));
    combination /= worlds().domain(variable);
  }
}

void TablesBackend::find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const {
  const auto width = query.logs.width;
  parallel_for(query.size(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    for (auto row = begin; row < end; ++row) {
      const auto* const logs = query.logs.row(row);
      auto* const slope = gradient.empty() ? nullptr : gradient.row(row);
      double total = 0;
      for (std::size_t output = 0; output < tables_.size() && total != kLogOfZero; ++output) {
        weigh(output, logs, width, query.outputs[row][output], weights);
        const double sum = log_sum(weights);
        total += sum;
        if (slope == nullptr || sum == kLogOfZero) continue;
        for (std::size_t combination = 0; combination < weights.size(); ++combination) {
          const double share = std::exp(weights[combination] - sum);
          if (share == 0) continue;
          for_each_value(tables_[output], static_cast<std::int64_t>(combination),
                         [&](std::int64_t variable, std::int64_t value) { slope[variable * width + value] += share; });
        }
      }
      for (const auto variable : unread_) {
        const double sum = log_sum({logs + variable * width, as_size(worlds().domain(variable))});
        total += sum;
        for (std::int64_t value = 0; slope != nullptr && value < worlds().domain(variable); ++value) {
          slope[variable * width + value] = sum == kLogOfZero ? 0 : std::exp(logs[variable * width + value] - sum);
        }
      }
      if (total == kLogOfZero && slope != nullptr) std::fill_n(slope, query.logs.row_size(), 0.0);
      log_probs[as_size(row)] = total;
    }
  });
}

void TablesBackend::find_most_probable(const Query& query, MutablePointRows worlds_found,
                                       std::span<double> log_probs) const {
  const auto width = query.logs.width;
  parallel_for(query.size(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    for (auto row = begin; row < end; ++row) {
      const auto* const logs = query.logs.row(row);
      const auto world = worlds_found[row];
      bool possible = true;
      for (std::size_t output = 0; output < tables_.size(); ++output) {
        weigh(output, logs, width, query.outputs[row][output], weights);
        const auto best = std::ranges::max_element(weights);
        possible = possible && *best != kLogOfZero;
        for_each_value(tables_[output], best - weights.begin(),
                       [&](std::int64_t variable, std::int64_t value) { world[as_size(variable)] = value; });
      }
      for (const auto variable : unread_) {
        const auto* const of_values = logs + variable * width;
        world[as_size(variable)] = std::max_element(of_values, of_values + worlds().domain(variable)) - of_values;
      }
      double total = 0;
      for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
        total += logs[variable * width + world[as_size(variable)]];
      }
      log_probs[as_size(row)] = possible ? total : kLogOfZero;
    }
  });
}

void TablesBackend::draw(const Query& query, std::span<Random> randoms, MutablePointRows drawn) const {
  const auto width = query.logs.width;
  parallel_for(query.size(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    const auto possible = [](std::int64_t chosen) {
      if (chosen < 0) throw Error("no world of positive probability gives the output");
      return chosen;
    };
    for (auto row = begin; row < end; ++row) {
      const auto* const logs = query.logs.row(row);
      const auto world = drawn[row];
      auto& random = randoms[as_size(row)];
      for (std::size_t output = 0; output < tables_.size(); ++output) {
        weigh(output, logs, width, query.outputs[row][output], weights);
        for_each_value(tables_[output], possible(choose(weights.data(), std::ssize(weights), random)),
                       [&](std::int64_t variable, std::int64_t value) { world[as_size(variable)] = value; });
      }
      for (const auto variable : unread_) {
        world[as_size(variable)] = possible(choose(logs + variable * width, worlds().domain(variable), random));
      }
    }
  });
}

void TablesBackend::output_marginals(LogBeliefRows logs, GradientRows log_probs) const {
  parallel_for(logs.size, kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    for (auto row = begin; row < end; ++row) {
      std::fill_n(log_probs.row(row), log_probs.row_size(), kLogOfZero);
      for (std::size_t output = 0; output < tables_.size(); ++output) {
        weigh(output, logs.row(row), logs.width, kUnset, weights);
        for (std::size_t combination = 0; combination < weights.size(); ++combination) {
          auto& sum = log_probs(row, static_cast<std::int64_t>(output), tables_[output].values[combination]);
          if (weights[combination] != kLogOfZero) sum = log_add(sum, weights[combination]);
        }
      }
    }
  });
}

ANESI_BACKEND("tables", "a table for each output; exact if no two outputs share a variable", TablesBackend)

}  // namespace anesi

#include "count_backend.h"

#include <anesi/core/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using anesi::kLogOfZero;
using anesi::log_add;

std::optional<anesi::BackendCost> CountBackend::applies(const anesi::Problem& problem, const anesi::ExactOptions&) {
  const auto& worlds = problem.worlds();
  const auto* const counts = problem.facts().find<CountsOnly>();
  if (counts == nullptr || !worlds.all_domains_equal() || worlds.largest_domain() < 2) return std::nullopt;
  return anesi::BackendCost{.operations = 40.0 * static_cast<double>(worlds.variables() * worlds.variables())};
}

CountBackend::CountBackend(const anesi::Problem& problem, const anesi::ExactOptions&)
    : Backend(problem.worlds(), problem.outputs()), value_(problem.facts().find<CountsOnly>()->value) {
  const auto variables = problem.worlds().variables();
  anesi::Points some(variables + 1, variables, value_ == 0 ? 1 : 0);
  for (std::int64_t count = 0; count <= variables; ++count) std::fill_n(some[count].begin(), count, value_);
  outputs_of_counts_ = anesi::apply(problem, some);
}

bool CountBackend::gives(std::int64_t count, anesi::Values output) const {
  const auto given = outputs_of_counts_[count];
  return std::equal(output.begin(), output.end(), given.begin(), anesi::admits);
}

double CountBackend::log_other(const double* logs, std::int64_t width, std::int64_t variable) const {
  double sum = kLogOfZero;
  for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
    if (value != value_) sum = log_add(sum, logs[variable * width + value]);
  }
  return sum;
}

std::vector<std::vector<double>> CountBackend::ahead(const double* logs, std::int64_t width,
                                                     anesi::Values output) const {
  const auto variables = worlds().variables();
  const auto size = static_cast<std::size_t>(variables) + 1;
  std::vector<std::vector<double>> result(size, std::vector<double>(size, kLogOfZero));
  for (std::size_t count = 0; count < size; ++count) {
    if (gives(static_cast<std::int64_t>(count), output)) result.back()[count] = 0;
  }
  for (auto variable = variables; variable-- > 0;) {
    const auto place = static_cast<std::size_t>(variable);
    const double is = logs[variable * width + value_], is_not = log_other(logs, width, variable);
    for (std::size_t count = 0; count <= place; ++count) {
      result[place][count] = log_add(is + result[place + 1][count + 1], is_not + result[place + 1][count]);
    }
  }
  return result;
}

void CountBackend::find_log_prob(const anesi::Query& query, std::span<double> log_probs,
                                 anesi::GradientRows gradient) const {
  const auto variables = worlds().variables(), width = query.logs.width;
  for (std::int64_t row = 0; row < query.size(); ++row) {
    const auto* const logs = query.logs.row(row);
    const auto after = ahead(logs, width, query.outputs[row]);
    const double log_prob = log_probs[static_cast<std::size_t>(row)] = after[0][0];
    if (gradient.empty() || log_prob == kLogOfZero) continue;
    std::vector<double> before{0};  // log of how likely each count of the variables so far is
    for (std::int64_t variable = 0; variable < variables; ++variable) {
      const auto& next = after[static_cast<std::size_t>(variable) + 1];
      double with = kLogOfZero, without = kLogOfZero;
      for (std::size_t count = 0; count < before.size(); ++count) {
        with = log_add(with, before[count] + next[count + 1]);
        without = log_add(without, before[count] + next[count]);
      }
      for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
        const double way = logs[variable * width + value] + (value == value_ ? with : without);
        gradient(row, variable, value) = std::exp(way - log_prob);
      }
      before.push_back(kLogOfZero);
      const double is = logs[variable * width + value_], is_not = log_other(logs, width, variable);
      for (auto count = before.size(); count-- > 0;) {
        before[count] = log_add(before[count] + is_not, count > 0 ? before[count - 1] + is : kLogOfZero);
      }
    }
  }
}

// Of the worlds with so many variables that have the value, the best one is where having it costs least.
void CountBackend::find_most_probable(const anesi::Query& query, anesi::MutablePointRows worlds_found,
                                      std::span<double> log_probs) const {
  const auto variables = static_cast<std::size_t>(worlds().variables());
  for (std::int64_t row = 0; row < query.size(); ++row) {
    const auto* const logs = query.logs.row(row);
    std::vector<std::int64_t> best_other(variables);
    std::vector<double> is(variables), is_not(variables);
    std::vector<std::size_t> order(variables);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t variable = 0; variable < variables; ++variable) {
      const auto* const of_values = logs + static_cast<std::int64_t>(variable) * query.logs.width;
      best_other[variable] = value_ == 0 ? 1 : 0;
      for (std::int64_t value = 0; value < worlds().domain(static_cast<std::int64_t>(variable)); ++value) {
        if (value != value_ && of_values[value] > of_values[best_other[variable]]) best_other[variable] = value;
      }
      is[variable] = of_values[value_];
      is_not[variable] = of_values[best_other[variable]];
    }
    // A value that is impossible comes last, one that must be taken first.
    const auto gain = [&](std::size_t variable) {
      if (is_not[variable] == kLogOfZero) return std::numeric_limits<double>::infinity();
      return is[variable] - is_not[variable];
    };
    std::ranges::sort(order, std::greater{}, gain);
    auto& best = log_probs[static_cast<std::size_t>(row)] = kLogOfZero;
    for (std::size_t count = 0; count <= variables; ++count) {
      if (!gives(static_cast<std::int64_t>(count), query.outputs[row])) continue;
      double sum = 0;
      for (std::size_t place = 0; place < variables; ++place) {
        sum += place < count ? is[order[place]] : is_not[order[place]];
      }
      if (!(sum > best)) continue;
      best = sum;
      for (std::size_t place = 0; place < variables; ++place) {
        worlds_found[row][order[place]] = place < count ? value_ : best_other[order[place]];
      }
    }
  }
}

void CountBackend::draw(const anesi::Query& query, std::span<anesi::Random> randoms,
                        anesi::MutablePointRows drawn) const {
  for (std::int64_t row = 0; row < query.size(); ++row) {
    const auto* const logs = query.logs.row(row);
    const auto after = ahead(logs, query.logs.width, query.outputs[row]);
    if (after[0][0] == kLogOfZero) throw anesi::Error("no world of positive probability gives the output");
    std::size_t count = 0;
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      const auto place = static_cast<std::size_t>(variable);
      double left = randoms[static_cast<std::size_t>(row)].uniform();
      for (std::int64_t value = 0; value < worlds().domain(variable) && left >= 0; ++value) {
        const double way =
            logs[variable * query.logs.width + value] + after[place + 1][count + (value == value_ ? 1 : 0)];
        const double share = std::exp(way - after[place][count]);
        if (share == 0) continue;
        drawn[row][place] = value;
        left -= share;
      }
      if (drawn[row][place] == value_) ++count;
    }
  }
}

ANESI_BACKEND("count", "dynamic programming over how many variables have a value", CountBackend)

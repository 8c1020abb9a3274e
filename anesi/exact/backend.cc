#include "anesi/exact/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

// How many numbers of beliefs are asked about at once while second derivatives are computed.
constexpr std::int64_t kNumbersAtOnce = 1 << 22;
// How many outputs and beginnings of outputs are asked about in search of the most probable ones.
constexpr std::int64_t kMostOutputsSearched = 20000;

// Beliefs with memory of their own.
struct OwnBeliefs {
  OwnBeliefs(std::int64_t examples, const LogBeliefRows& like)
      : numbers(as_size(examples * like.row_size())), rows(numbers.data(), examples, like.variables, like.width) {}
  std::vector<double> numbers;
  GradientRows rows;
};

// The sum of weights * values over the values that each variable has; 0 * -inf is 0.
double dot(const Space& worlds, const double* weights, const double* values, std::int64_t width) {
  double sum = 0;
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    for (std::int64_t value = 0; value < worlds.domain(variable); ++value) {
      const auto place = variable * width + value;
      if (weights[place] != 0) sum += weights[place] * values[place];
    }
  }
  return sum;
}

}  // namespace

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kLogOfZero ? a : a + std::log1p(std::exp(b - a));
}

double log_sum(std::span<const double> logs) {
  double largest = kLogOfZero;
  for (const double value : logs) largest = std::max(largest, value);
  if (largest == kLogOfZero) return kLogOfZero;
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

void Backend::check(const LogBeliefRows& logs, const PointRows* outputs) const {
  if (logs.variables != worlds_.variables() || logs.width < worlds_.largest_domain()) {
    throw Error(fmt::format("exact inference: beliefs of shape [{}, {}, {}]; [batch, {}, {}] is expected", logs.size,
                            logs.variables, logs.width, worlds_.variables(), worlds_.largest_domain()));
  }
  if (outputs == nullptr) return;
  if (outputs->size() != logs.size || outputs->width() != outputs_.variables()) {
    throw Error(fmt::format("exact inference: outputs of shape [{}, {}]; [{}, {}] is expected", outputs->size(),
                            outputs->width(), logs.size, outputs_.variables()));
  }
  for (std::int64_t row = 0; row < outputs->size(); ++row) {
    const auto output = (*outputs)[row];
    for (std::size_t variable = 0; variable < output.size(); ++variable) {
      const auto domain = outputs_.domain(static_cast<std::int64_t>(variable));
      if (output[variable] < domain) continue;
      throw Error(fmt::format("exact inference: output variable {} of example {} is {}; it has values 0 to {}",
                              variable, row, output[variable], domain - 1));
    }
  }
}

void Backend::log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const {
  check(query.logs, &query.outputs);
  std::fill_n(gradient.data, gradient.empty() ? 0 : gradient.size * gradient.row_size(), 0.0);
  if (query.size() > 0) find_log_prob(query, log_probs, gradient);
}

void Backend::log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient) const {
  check(query.logs, &query.outputs);
  std::fill_n(gradient.data, gradient.empty() ? 0 : gradient.size * gradient.row_size(), 0.0);
  if (query.size() > 0) find_log_prob_of_others(query, log_probs, gradient);
}

void Backend::find_log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient) const {
  const auto size = query.size(), variables = outputs_.variables();
  Points asked(size, variables, kUnset);
  std::vector<double> part(as_size(size));
  std::fill(log_probs.begin(), log_probs.end(), kLogOfZero);
  OwnBeliefs slope(gradient.empty() ? 0 : size, query.logs);
  for (std::int64_t variable = 0; variable < variables; ++variable) {
    const auto place = as_size(variable);
    for (std::int64_t row = 0; row < size; ++row) {
      const auto wanted = query.outputs[row][place];
      // If any value will do, none differs; what is asked instead does not matter.
      asked[row][place] = wanted == kUnset ? kUnset : other_than(0) - wanted;
    }
    log_prob({query.logs, asked}, part, gradient.empty() ? GradientRows() : slope.rows);
    for (std::int64_t row = 0; row < size; ++row) {
      const auto wanted = query.outputs[row][place];
      asked[row][place] = wanted;
      if (wanted == kUnset || part[as_size(row)] == kLogOfZero) continue;
      auto& total = log_probs[as_size(row)];
      const double both = log_add(total, part[as_size(row)]);
      if (!gradient.empty()) {
        const double of_total = std::exp(total - both), of_part = std::exp(part[as_size(row)] - both);
        auto* const sum = gradient.row(row);
        const auto* const added = slope.rows.row(row);
        for (std::int64_t entry = 0; entry < gradient.row_size(); ++entry) {
          sum[entry] = of_total * sum[entry] + of_part * added[entry];
        }
      }
      total = both;
    }
  }
}

void Backend::hessian_product(const Query& query, LogBeliefRows direction, GradientRows result, Of of) const {
  check(query.logs, &query.outputs);
  std::fill_n(result.data, result.size * result.row_size(), 0.0);
  if (query.size() > 0) find_hessian_product(query, direction, result, of);
}

// p(y|P) and p(not y|P) are linear in each P_i, so the second derivatives of their logarithms are the covariances of
// [w_i = v] under p(w|y,P) or p(w|not y,P):
//   (H d)_j(u) = p(w_j = u) (E[sum of d_i(w_i) | w_j = u] - E[sum of d_i(w_i)]).
void Backend::find_hessian_product(const Query& query, LogBeliefRows direction, GradientRows result, Of of) const {
  const auto find = [&](const Query& asked, std::span<double> log_probs, GradientRows gradient) {
    return of == Of::kOutput ? log_prob(asked, log_probs, gradient) : log_prob_of_others(asked, log_probs, gradient);
  };
  const auto size = query.size(), width = query.logs.width, row_size = query.logs.row_size();
  OwnBeliefs marginals(size, query.logs);
  std::vector<double> log_probs(as_size(size));
  find(query, log_probs, marginals.rows);
  struct Certain {
    std::int64_t row, variable, value;
  };
  std::vector<Certain> asked;
  const auto ask = [&] {
    if (asked.empty()) return;
    const auto count = std::ssize(asked);
    OwnBeliefs logs(count, query.logs), slope(count, query.logs);
    Points outputs(count, query.outputs.width());
    std::vector<double> parts(asked.size());
    for (std::int64_t place = 0; place < count; ++place) {
      const auto& [row, variable, value] = asked[as_size(place)];
      std::copy_n(query.logs.row(row), row_size, logs.rows.row(place));
      for (std::int64_t other = 0; other < worlds_.domain(variable); ++other) {
        if (other != value) logs.rows(place, variable, other) = kLogOfZero;
      }
      std::ranges::copy(query.outputs[row], outputs[place].begin());
    }
    find({logs.rows, outputs}, parts, slope.rows);
    for (std::int64_t place = 0; place < count; ++place) {
      const auto& [row, variable, value] = asked[as_size(place)];
      const double mean = dot(worlds_, marginals.rows.row(row), direction.row(row), width);
      const double given = dot(worlds_, slope.rows.row(place), direction.row(row), width);
      result(row, variable, value) = marginals.rows(row, variable, value) * (given - mean);
    }
    asked.clear();
  };
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        if (marginals.rows(row, variable, value) > 0) asked.push_back({row, variable, value});
        if (std::ssize(asked) * row_size >= kNumbersAtOnce) ask();
      }
    }
  }
  ask();
}

void Backend::most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const {
  check(query.logs, &query.outputs);
  if (query.size() > 0) find_most_probable(query, worlds, log_probs);
}

std::vector<RankedPoints> Backend::ranked_worlds(const Query& query, std::int64_t top) const {
  check(query.logs, &query.outputs);
  return query.size() > 0 ? rank_worlds(query, top) : std::vector<RankedPoints>();
}

// Lawler 1972: once the best world is known, all others differ from it first at some variable. So what is left falls
// into as many parts as there are variables, and the best of each is found as the best of all was.
std::vector<RankedPoints> Backend::rank_worlds(const Query& query, std::int64_t top) const {
  struct Part {
    double log_prob;
    std::vector<std::int64_t> world;  // the best one of the part
    std::vector<double> logs;         // the beliefs that are left in it
    std::int64_t first;               // variables before this one are decided
    bool operator<(const Part& other) const { return log_prob < other.log_prob; }
  };
  const auto variables = worlds_.variables(), width = query.logs.width, row_size = query.logs.row_size();
  std::vector<RankedPoints> ranked;
  for (std::int64_t row = 0; row < query.size(); ++row) {
    std::priority_queue<Part> open;
    // Finds the best world of each of these parts.
    const auto add = [&](std::vector<Part> parts) {
      const auto count = std::ssize(parts);
      OwnBeliefs logs(count, query.logs);
      Points outputs(count, query.outputs.width()), worlds(count, variables);
      std::vector<double> log_probs(parts.size());
      for (std::int64_t place = 0; place < count; ++place) {
        std::ranges::copy(parts[as_size(place)].logs, logs.rows.row(place));
        std::ranges::copy(query.outputs[row], outputs[place].begin());
      }
      most_probable({logs.rows, outputs}, worlds, log_probs);
      for (std::int64_t place = 0; place < count; ++place) {
        auto& part = parts[as_size(place)];
        part.log_prob = log_probs[as_size(place)];
        if (part.log_prob == kLogOfZero) continue;
        part.world.assign(worlds[place].begin(), worlds[place].end());
        open.push(std::move(part));
      }
    };
    const auto* const all = query.logs.row(row);
    add({Part{0, {}, {all, all + row_size}, 0}});
    std::vector<std::int64_t> points;
    std::vector<double> log_probs;
    while (std::ssize(log_probs) < top && !open.empty()) {
      const auto best = open.top();
      open.pop();
      points.insert(points.end(), best.world.begin(), best.world.end());
      log_probs.push_back(best.log_prob);
      if (std::ssize(log_probs) == top) break;
      std::vector<Part> parts;
      auto decided = best.logs;
      for (auto variable = best.first; variable < variables; ++variable) {
        auto* const of_values = decided.data() + variable * width;
        const auto domain = worlds_.domain(variable);
        const auto value = best.world[as_size(variable)];
        const double share = of_values[value];
        of_values[value] = kLogOfZero;
        if (*std::max_element(of_values, of_values + domain) > kLogOfZero) parts.push_back({0, {}, decided, variable});
        std::fill_n(of_values, domain, kLogOfZero);
        of_values[value] = share;
      }
      if (!parts.empty()) add(std::move(parts));
    }
    const auto found = std::ssize(log_probs);
    ranked.push_back({Points(PointRows(points.data(), found, variables)), std::move(log_probs)});
  }
  return ranked;
}

std::vector<RankedPoints> Backend::ranked_outputs(LogBeliefRows logs, std::int64_t top) const {
  check(logs, nullptr);
  return logs.size > 0 ? rank_outputs(logs, top) : std::vector<RankedPoints>();
}

std::vector<RankedPoints> Backend::rank_outputs(LogBeliefRows logs, std::int64_t top) const {
  struct Prefix {
    double log_prob;
    std::vector<std::int64_t> output;  // kUnset past the prefix
    std::int64_t chosen;
    // Of equals the longer one first, so that something is found at all.
    bool operator<(const Prefix& other) const {
      return std::pair(log_prob, chosen) < std::pair(other.log_prob, other.chosen);
    }
  };
  const auto variables = outputs_.variables();
  std::vector<RankedPoints> ranked;
  for (std::int64_t row = 0; row < logs.size; ++row) {
    std::int64_t asked = 0;
    const auto longer = [&](const Prefix& prefix) {
      const auto domain = outputs_.domain(prefix.chosen);
      OwnBeliefs repeated(domain, logs);
      Points outputs(domain, variables);
      std::vector<double> found(as_size(domain));
      for (std::int64_t value = 0; value < domain; ++value) {
        std::copy_n(logs.row(row), logs.row_size(), repeated.rows.row(value));
        std::ranges::copy(prefix.output, outputs[value].begin());
        outputs[value][as_size(prefix.chosen)] = value;
      }
      log_prob({repeated.rows, outputs}, found);
      asked += domain;
      std::vector<Prefix> children;
      for (std::int64_t value = 0; value < domain; ++value) {
        if (found[as_size(value)] == kLogOfZero) continue;
        children.push_back({found[as_size(value)], {outputs[value].begin(), outputs[value].end()}, prefix.chosen + 1});
      }
      return children;
    };
    std::priority_queue<Prefix> open;
    open.push({0, std::vector<std::int64_t>(as_size(variables), kUnset), 0});
    std::vector<Prefix> best;
    bool proven = true;
    while (std::ssize(best) < top && !open.empty()) {
      auto prefix = open.top();
      open.pop();
      proven = proven && asked < kMostOutputsSearched;
      if (prefix.chosen == variables) {
        best.push_back(std::move(prefix));
      } else if (proven) {
        for (auto& child : longer(prefix)) open.push(std::move(child));
      } else {  // the most probable value at each step, so that there is an answer in any case
        while (prefix.chosen < variables) {
          auto children = longer(prefix);
          prefix = *std::max_element(children.begin(), children.end());
        }
        best.push_back(std::move(prefix));
      }
    }
    std::ranges::stable_sort(best, std::greater{}, &Prefix::log_prob);
    auto& [points, log_probs, is_proven] = ranked.emplace_back(Points(std::ssize(best), variables));
    is_proven = proven;
    for (std::int64_t place = 0; place < points.size(); ++place) {
      std::ranges::copy(best[as_size(place)].output, points[place].begin());
      log_probs.push_back(best[as_size(place)].log_prob);
    }
  }
  return ranked;
}

void Backend::sample(const Query& query, Random& random, MutablePointRows worlds) const {
  check(query.logs, &query.outputs);
  std::vector<Random> randoms;
  for (std::int64_t row = 0; row < query.size(); ++row) randoms.emplace_back(random.next());
  if (query.size() > 0) draw(query, randoms, worlds);
}

void Backend::entropy(const Query& query, std::span<double> entropies, GradientRows gradient) const {
  check(query.logs, &query.outputs);
  std::fill_n(gradient.data, gradient.empty() ? 0 : gradient.size * gradient.row_size(), 0.0);
  if (query.size() > 0) find_entropy(query, entropies, gradient);
}

// H = log p(y|P) - E[log p(w|P)], whose derivative is minus the second derivative of log p(y|P) times log P.
void Backend::find_entropy(const Query& query, std::span<double> entropies, GradientRows gradient) const {
  const auto size = query.size(), width = query.logs.width;
  // Of normalised beliefs, which changes neither: large logarithms would cost digits.
  OwnBeliefs logs(size, query.logs), marginals(size, query.logs);
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      const std::span values(&query.logs(row, variable, 0), as_size(worlds_.domain(variable)));
      const double sum = log_sum(values);
      for (std::size_t value = 0; value < values.size(); ++value) {
        logs.rows.row(row)[variable * width + static_cast<std::int64_t>(value)] =
            sum == kLogOfZero ? sum : values[value] - sum;
      }
    }
  }
  const Query normalised{logs.rows, query.outputs};
  log_prob(normalised, entropies, marginals.rows);
  for (std::int64_t row = 0; row < size; ++row) {
    auto& entropy = entropies[as_size(row)];
    if (entropy == kLogOfZero) {
      entropy = 0;
    } else {
      entropy = std::max(0.0, entropy - dot(worlds_, marginals.rows.row(row), logs.rows.row(row), width));
    }
  }
  if (gradient.empty()) return;
  OwnBeliefs minus_logs(size, query.logs);
  std::ranges::transform(logs.numbers, minus_logs.numbers.begin(),
                         [](double log) { return log == kLogOfZero ? 0 : -log; });
  hessian_product(normalised, minus_logs.rows, gradient);
}

}  // namespace anesi

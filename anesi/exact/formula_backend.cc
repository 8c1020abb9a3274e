#include "anesi/exact/formula_backend.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// 1 - p is computed as such if it is above this. Below it too few digits are left, and a circuit of the violations
// counts them.
constexpr double kLeastRest = 1e-4;
// Rows that one thread counts by one circuit before it turns to others.
constexpr std::int64_t kRowsAtOnce = 64;

constexpr const char* kNoWorld = "no world of positive probability gives the output";

// log(1 - p).
double log_of_rest(double log_p) {
  if (log_p >= 0) return kLogOfZero;
  return log_p > -0.7 ? std::log(-std::expm1(log_p)) : std::log1p(-std::exp(log_p));
}

// The logarithms of shares, from logarithms that may be large: these are subtracted from each other first, which rounds
// nothing, so that the shares sum to one to the last digit.
void normalise(std::span<const double> logs, std::span<double> shares) {
  const auto largest = *std::ranges::max_element(logs);
  std::ranges::transform(logs, shares.begin(), [&](double log) { return log - largest; });
  const auto sum = log_sum(shares);
  for (auto& share : shares) share -= sum;
}

}  // namespace

template <typename Visit>
void FormulaBackend::for_each_literal(Visit visit) const {
  for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
    for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
      visit(variable, value, place_of(encoding_.world(variable, value)));
    }
  }
}

FormulaBackend::Wanted FormulaBackend::wanted(Values output) const {
  if (!encoding_.is_constraint()) return Wanted::kModels;
  const bool models = admits(output[0], 1), violations = admits(output[0], 0);
  if (models) return violations ? Wanted::kAll : Wanted::kModels;
  return violations ? Wanted::kViolations : Wanted::kNothing;
}

FormulaBackend::Row FormulaBackend::row_of(const Query& query, std::int64_t index) const {
  const auto output = query.outputs[index];
  return {index, output, {query.logs.row(index), query.logs.width}, wanted(output), &formula_for(output)};
}

void FormulaBackend::fill(const Row& row, OutputWeights of_outputs, std::span<double> weights) const {
  for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
    weights[place] = row.logs(variable, value);
  });
  if (of_outputs == OutputWeights::kOne) return;
  for (std::size_t variable = 0; variable < encoding_.outputs.size(); ++variable) {
    const auto& literals = encoding_.outputs[variable];
    for (std::size_t value = 0; value < literals.size(); ++value) {
      // The value that is asked for is true, which clauses need not say once the output is known.
      const auto is = static_cast<std::int64_t>(value);
      if (!admits(row.output[variable], is)) weights[place_of(literals[value])] = kLogOfZero;
      if (row.output[variable] == is) weights[place_of(-literals[value])] = kLogOfZero;
    }
  }
}

void FormulaBackend::count(const std::vector<Row>& rows, Circuits circuits, OutputWeights of_outputs,
                           bool with_derivative, const Take& take) const {
  std::map<const CountedFormula*, std::vector<const Row*>> by_formula;
  for (const auto& row : rows) by_formula[row.formula].push_back(&row);
  std::vector<std::pair<const CountedFormula*, std::span<const Row* const>>> parts;
  for (const auto& [formula, its] : by_formula) {
    for (std::int64_t begin = 0; begin < std::ssize(its); begin += kRowsAtOnce) {
      const auto length = std::min(kRowsAtOnce, std::ssize(its) - begin);
      parts.emplace_back(formula, std::span(its).subspan(as_size(begin), as_size(length)));
    }
  }
  parallel_for(std::ssize(parts), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      const auto& [formula, its] = parts[as_size(part)];
      (formula->*circuits)().log_count(
          std::ssize(its), with_derivative,
          [&, &its = its](std::int64_t row, std::span<double> weights) {
            fill(*its[as_size(row)], of_outputs, weights);
          },
          [&, &its = its](std::int64_t row, double log_count, std::span<const double> derivative) {
            take(*its[as_size(row)], log_count, derivative);
          });
    }
  });
}

FormulaBackend::Take FormulaBackend::write_to(const Answers& answers) const {
  return [&](const Row& row, double log_count, std::span<const double> derivative) {
    answers.log_probs[as_size(row.index)] = log_count;
    if (derivative.empty()) return;
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      answers.gradient(row.index, variable, value) = derivative[place];
    });
  };
}

void FormulaBackend::count_models(const std::vector<Row>& rows, const Answers& answers) const {
  count(rows, &CountedFormula::models, OutputWeights::kAsked, !answers.gradient.empty(), write_to(answers));
}

std::vector<double> FormulaBackend::log_sums(const BelievedLogs& logs, double& all) const {
  std::vector<double> sums;
  all = 0;
  for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
    sums.push_back(log_sum({logs.values + variable * logs.width, as_size(worlds().domain(variable))}));
    all += sums.back();
  }
  return sums;
}

void FormulaBackend::count_all(const Row& row, const Answers& answers) const {
  double all = 0;
  const auto sums = log_sums(row.logs, all);
  answers.log_probs[as_size(row.index)] = all;
  if (answers.gradient.empty() || all == kLogOfZero) return;
  for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t) {
    answers.gradient(row.index, variable, value) = std::exp(row.logs(variable, value) - sums[as_size(variable)]);
  });
}

void FormulaBackend::count_rest(const std::vector<Row>& rows, const Answers& answers) const {
  const bool with_derivative = !answers.gradient.empty();
  // Of normalised beliefs: large logarithms would cost the difference its digits.
  std::vector<double> numbers, all_worlds(answers.log_probs.size(), 0);
  std::vector<Row> normalised;
  const auto width = worlds().largest_domain(), row_size = worlds().variables() * width;
  numbers.reserve(rows.size() * as_size(row_size));
  for (const auto& row : rows) {
    log_sums(row.logs, all_worlds[as_size(row.index)]);
    if (all_worlds[as_size(row.index)] == kLogOfZero) {
      answers.log_probs[as_size(row.index)] = kLogOfZero;
      continue;
    }
    normalised.push_back(row);
    normalised.back().logs = {numbers.data() + numbers.size(), width};
    numbers.resize(numbers.size() + as_size(row_size), kLogOfZero);
    const std::span<double> shares(numbers.end() - row_size, numbers.end());
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      const auto domain = as_size(worlds().domain(variable));
      normalise({row.logs.values + variable * row.logs.width, domain},
                shares.subspan(as_size(variable * width), domain));
    }
  }
  std::vector<char> has_few_digits(answers.log_probs.size(), 0);
  const auto take = [&](const Row& row, double models, std::span<const double> derivative) {
    const auto log_rest = log_of_rest(models);
    if (log_rest < std::log(kLeastRest)) {
      has_few_digits[as_size(row.index)] = 1;
      return;
    }
    answers.log_probs[as_size(row.index)] = all_worlds[as_size(row.index)] + log_rest;
    if (!with_derivative) return;
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      // Of all worlds, those with this value; of these, those that are no models.
      const auto with_value = std::exp(row.logs(variable, value));
      const auto models_with_value = models == kLogOfZero ? 0 : derivative[place] * std::exp(models);
      // Rounding may leave more models than worlds: none of them violates.
      answers.gradient(row.index, variable, value) = std::max(0.0, with_value - models_with_value) / std::exp(log_rest);
    });
  };
  count(normalised, &CountedFormula::models, OutputWeights::kAsked, with_derivative, take);
  std::vector<Row> left;
  for (const auto& row : rows) {
    if (has_few_digits[as_size(row.index)] != 0) left.push_back(row);
  }
  // In a circuit of violations, variables that are not of worlds are false.
  count(left, &CountedFormula::violations, OutputWeights::kOne, with_derivative, write_to(answers));
}

void FormulaBackend::find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const {
  const Answers answers{log_probs, gradient};
  std::vector<Row> models, violations;
  for (std::int64_t index = 0; index < query.size(); ++index) {
    const auto row = row_of(query, index);
    if (row.wanted == Wanted::kModels) models.push_back(row);
    if (row.wanted == Wanted::kViolations) violations.push_back(row);
    if (row.wanted == Wanted::kAll) count_all(row, answers);
    if (row.wanted == Wanted::kNothing) log_probs[as_size(index)] = kLogOfZero;
  }
  count_models(models, answers);
  count_rest(violations, answers);
}

void FormulaBackend::find_log_prob_of_rest(const Query& query, std::span<double> log_probs,
                                           GradientRows gradient) const {
  std::vector<Row> rows;
  for (std::int64_t index = 0; index < query.size(); ++index) rows.push_back(row_of(query, index));
  count_rest(rows, {log_probs, gradient});
}

double FormulaBackend::best_of_all(const BelievedLogs& logs, MutableValues world) const {
  double log_prob = 0;
  for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
    const auto* const of_values = logs.values + variable * logs.width;
    const auto* const best = std::max_element(of_values, of_values + worlds().domain(variable));
    world[as_size(variable)] = best - of_values;
    log_prob += *best;
  }
  return log_prob;
}

void FormulaBackend::find_most_probable(const Query& query, MutablePointRows worlds,
                                        std::span<double> log_probs) const {
  parallel_for(query.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    Circuit::Weights weights;
    std::vector<bool> model;
    for (auto index = begin; index < end; ++index) {
      const auto row = row_of(query, index);
      const auto world = worlds[index];
      std::ranges::fill(world, 0);
      const auto best_of = [&](const Circuit& circuit) {
        weights.assign(circuit.places(), 0.0);
        fill(row, OutputWeights::kAsked, weights);
        const auto log_prob = circuit.best_model(weights, model);
        if (log_prob != kLogOfZero) read_values(encoding_.worlds, model, world.data());
        return log_prob;
      };
      auto& log_prob = log_probs[as_size(index)];
      switch (row.wanted) {
        case Wanted::kNothing:
          log_prob = kLogOfZero;
          break;
        case Wanted::kAll:
          log_prob = best_of_all(row.logs, world);
          break;
        case Wanted::kViolations:  // one is among the most likely worlds as a rule
          log_prob = best_violation(row.formula->formula(), row.logs, world.data());
          if (log_prob == kLogOfZero) log_prob = best_of(row.formula->violations().circuit());
          break;
        case Wanted::kModels:
          log_prob = best_of(row.formula->formula().circuit);
      }
    }
  });
}

void FormulaBackend::draw_of_all(const BelievedLogs& logs, Random& random, MutableValues world) const {
  for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
    const std::span<const double> of_values(logs.values + variable * logs.width, as_size(worlds().domain(variable)));
    const auto sum = log_sum(of_values);
    if (sum == kLogOfZero) throw Error(kNoWorld);
    auto left = random.uniform();
    for (std::size_t value = 0; value < of_values.size() && left >= 0; ++value) {
      const auto share = std::exp(of_values[value] - sum);
      if (share == 0) continue;
      world[as_size(variable)] = static_cast<std::int64_t>(value);
      left -= share;
    }
  }
}

void FormulaBackend::draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const {
  parallel_for(query.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    Circuit::Weights weights;
    std::vector<bool> model;
    for (auto index = begin; index < end; ++index) {
      const auto row = row_of(query, index);
      auto& random = randoms[as_size(index)];
      const auto world = worlds[index];
      const auto draw_of = [&](const Circuit& circuit) {
        weights.assign(circuit.places(), 0.0);
        fill(row, OutputWeights::kAsked, weights);
        circuit.sample_model(weights, model, [&] { return random.uniform(); });
        read_values(encoding_.worlds, model, world.data());
      };
      if (row.wanted == Wanted::kNothing) throw Error(kNoWorld);
      if (row.wanted == Wanted::kModels) {
        draw_of(row.formula->formula().circuit);
        continue;
      }
      bool found = false;
      for (int tries = 0; tries < kDrawsToViolate && !found; ++tries) {
        draw_of_all(row.logs, random, world);
        found = row.wanted == Wanted::kAll || !satisfies(row.formula->formula(), world);
      }
      if (!found) draw_of(row.formula->violations().circuit());
    }
  });
}

void FormulaBackend::find_entropy(const Query& query, std::span<double> entropies, GradientRows gradient) const {
  parallel_for(query.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    Circuit::Weights weights, derivative;
    for (auto index = begin; index < end; ++index) {
      const auto row = row_of(query, index);
      if (row.wanted != Wanted::kModels) {
        Backend::find_entropy(query.slice(index, index + 1), entropies.subspan(as_size(index), 1),
                              gradient.slice(index, index + 1));
        continue;
      }
      const auto& circuit = row.formula->formula().circuit;
      weights.assign(circuit.places(), 0.0);
      fill(row, OutputWeights::kAsked, weights);
      entropies[as_size(index)] = circuit.entropy(weights, derivative);
      if (gradient.empty()) continue;
      for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
        // The entropy has an infinite slope where a probability is zero; there it stays.
        gradient(index, variable, value) = weights[place] == kLogOfZero ? 0 : derivative[place];
      });
    }
  });
}

}  // namespace anesi

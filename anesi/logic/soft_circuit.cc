#include "anesi/logic/soft_circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// The hard clauses, and for each soft one a variable that is true if it holds.
Cnf with_a_variable_for_each(const Cnf& hard, const std::vector<SoftClause>& soft, std::vector<int>& variables) {
  auto cnf = hard;
  for (const auto& [literals, weight] : soft) {
    const auto holds = cnf.fresh_variable();
    variables.push_back(holds);
    auto one_is_true = literals;
    one_is_true.push_back(-holds);
    cnf.add(std::move(one_is_true));
    for (const auto literal : literals) cnf.add({-literal, holds});
  }
  return cnf;
}

CircuitBatch compiled_with(const Cnf& cnf, double seconds) {
  return CircuitBatch(std::make_shared<const Circuit>(Circuit::compile(cnf.variables(), cnf.clauses(), seconds)));
}

}  // namespace

SoftCircuit::SoftCircuit(const Cnf& hard, const std::vector<SoftClause>& soft, double seconds)
    : encoding_(hard.encoding()),
      worlds_(space_of(encoding_.worlds)),
      batch_(compiled_with(with_a_variable_for_each(hard, soft, soft_), seconds)) {}

template <typename Visit>
void SoftCircuit::for_each_value(Visit visit) const {
  for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
    for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
      visit(variable, value, circuit().place_of(encoding_.world(variable, value)));
    }
  }
}

void SoftCircuit::check(const Query& query) const {
  const auto row_size = query.logs.width();
  if (row_size % worlds_.variables() != 0 || row_size / worlds_.variables() < worlds_.largest_domain()) {
    throw Error(fmt::format("soft circuit: {} beliefs in each row; {} variables of up to {} values are expected",
                            row_size, worlds_.variables(), worlds_.largest_domain()));
  }
  const auto& weights = query.weights;
  if (weights.width() != clauses()) {
    throw Error(fmt::format("soft circuit: {} weights for {} soft clauses", weights.width(), clauses()));
  }
  if (weights.size() != 1 && weights.size() != query.size()) {
    throw Error(fmt::format("soft circuit: {} rows of weights for {} of beliefs", weights.size(), query.size()));
  }
}

void SoftCircuit::fill(const Query& query, std::int64_t row, std::span<double> weights) const {
  const auto logs = query.logs[row], of_clauses = query.weights[query.weights.size() == 1 ? 0 : row];
  const auto width = query.logs.width() / worlds_.variables();
  for_each_value([&](std::int64_t variable, std::int64_t value, std::size_t place) {
    weights[place] = logs[as_size(variable * width + value)];
  });
  for (std::int64_t clause = 0; clause < clauses(); ++clause) {
    weights[place_of_clause(clause)] = of_clauses[as_size(clause)];
  }
}

void SoftCircuit::log_partition(const Query& query, std::span<double> logs, Rows<double> by_beliefs,
                                Rows<double> by_weights) const {
  check(query);
  std::ranges::fill(by_beliefs.values(), 0.0);
  const auto width = query.logs.width() / worlds_.variables();
  batch_.log_count(
      query.size(), by_beliefs.data() != nullptr || by_weights.data() != nullptr,
      [&](std::int64_t row, std::span<double> weights) { fill(query, row, weights); },
      [&](std::int64_t row, double log_count, std::span<const double> derivative) {
        logs[as_size(row)] = log_count;
        if (by_beliefs.data() != nullptr) {
          for_each_value([&](std::int64_t variable, std::int64_t value, std::size_t place) {
            by_beliefs[row][as_size(variable * width + value)] = derivative[place];
          });
        }
        if (by_weights.data() == nullptr) return;
        for (std::int64_t clause = 0; clause < clauses(); ++clause) {
          by_weights[row][as_size(clause)] = derivative[place_of_clause(clause)];
        }
      });
}

// How likely two clauses hold, less how likely that were if they did not depend on each other.
void SoftCircuit::covariance(const Query& query, Rows<double> covariances) const {
  Matrix<double> each(query.size(), clauses());
  std::vector<double> logs(as_size(query.size()));
  log_partition(query, logs, {}, each);
  batch_.log_count(
      query.size() * clauses(), /*with_derivative=*/true,
      [&](std::int64_t index, std::span<double> weights) {
        fill(query, index / clauses(), weights);
        weights[circuit().place_of(-soft_[as_size(index % clauses())])] = Circuit::kNoModel;
      },
      [&](std::int64_t index, double, std::span<const double> given_first) {
        const auto row = index / clauses(), first = index % clauses();
        const auto of_each = std::as_const(each)[row];
        for (std::int64_t second = 0; second < clauses(); ++second) {
          covariances[row][as_size(first * clauses() + second)] =
              of_each[as_size(first)] * (given_first[place_of_clause(second)] - of_each[as_size(second)]);
        }
      });
}

void SoftCircuit::most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const {
  log_partition(query, log_probs);
  parallel_for(query.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<bool> model;
    for (auto row = begin; row < end; ++row) {
      Circuit::Weights weights(circuit().places(), 0.0);
      fill(query, row, weights);
      const auto best = circuit().best_model(weights, model);
      auto& log_prob = log_probs[as_size(row)];
      log_prob = best == Circuit::kNoModel ? best : best - log_prob;
      std::ranges::fill(worlds[row], 0);
      read_values(encoding_.worlds, model, worlds[row].data());
    }
  });
}

void SoftCircuit::sample(const Query& query, Random& random, MutablePointRows worlds) const {
  check(query);
  std::vector<Random> randoms;
  for (std::int64_t row = 0; row < query.size(); ++row) randoms.emplace_back(random.next());
  parallel_for(query.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<bool> model;
    for (auto row = begin; row < end; ++row) {
      Circuit::Weights weights(circuit().places(), 0.0);
      fill(query, row, weights);
      circuit().sample_model(weights, model, [&] { return randoms[as_size(row)].uniform(); });
      read_values(encoding_.worlds, model, worlds[row].data());
    }
  });
}

}  // namespace anesi

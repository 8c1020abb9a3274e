#include "anesi/search/most_probable_worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/automaton_backend.h"
#include "anesi/search/propagation.h"
#include "anesi/search/pruner_propagation.h"

namespace anesi {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstBound = 1;   // nats
constexpr double kSameCost = 1e-9;  // nats; of worlds that cost the same, one is enough
constexpr std::int64_t kRowsPerThread = 4;

// For a function that tells nothing of itself: deciding a variable says nothing of the others.
class NoPropagation final : public Propagation {
 public:
  explicit NoPropagation(const Space& worlds) : domains_(worlds) {}

  std::span<const std::uint64_t> domains() const override { return domains_.masks(); }
  bool decide(std::int64_t variable, std::int64_t value) override {
    domains_.begin_decision();
    domains_.keep(variable, std::uint64_t{1} << value);
    return true;
  }
  std::span<const std::int64_t> changed() const override { return domains_.changed(); }
  void undo() override { domains_.undo(); }

 private:
  Domains domains_;
};

bool gives_output(const Problem& problem, Values world, Values wanted) {
  return std::ranges::equal(apply_to(problem, world), wanted,
                            [](auto is, auto asked) { return asked == kUnset || is == asked; });
}

// One row's search. What a variable costs at least is the cost of the cheapest value in its domain; the sum of that
// over all variables is what a world costs at least, and what it costs once all are decided.
class Search {
 public:
  // logs: [variables, width].
  Search(const Problem& problem, Values output, const double* logs, std::int64_t width, const SearchLimits& limits)
      : problem_(problem), wanted_(output), width_(static_cast<std::size_t>(width)), limits_(limits) {
    const auto& sizes = problem.worlds().domains();
    values_.resize(sizes.size() * width_);
    costs_.resize(values_.size());
    variables_.resize(sizes.size());
    for (std::size_t variable = 0; variable < sizes.size(); ++variable) {
      rank(variable, static_cast<std::size_t>(sizes[variable]), logs + variable * width_);
    }
  }

  // True, and done, where the most likely world gives the output.
  bool try_most_likely() {
    world_.resize(variables_.size());
    for (std::size_t variable = 0; variable < world_.size(); ++variable) world_[variable] = values_[variable * width_];
    if (!gives_output(problem_, world_, wanted_)) return false;
    best_ = world_;
    gap_ = 0;
    return true;
  }

  // Deepens the bound. Where the cheapest branch that was cut off costs more than the next bound, that is the bound.
  void run(Propagation& propagation) {
    propagation_ = &propagation;
    domains_ = propagation.domains();
    for (const auto domain : domains_) {
      if (domain == 0) return;
    }
    for (std::size_t variable = 0; variable < variables_.size(); ++variable) refresh(variable);
    double bound = kFirstBound / 2;
    cheapest_cut_ = least_;
    while (best_.empty() && !stopped_ && cheapest_cut_ <= limits_.nats && cheapest_cut_ < kInfinity) {
      bound = std::min(limits_.nats, std::max(2 * bound, cheapest_cut_));
      limit_ = bound;
      cheapest_cut_ = kInfinity;
      descend();
    }
  }

  ConsistentWorld result() const { return {best_, gap_, nodes_, !stopped_}; }

 private:
  struct Variable {
    double least = 0;            // the cost of its cheapest value
    std::uint32_t cheapest = 0;  // where values_ and costs_ have the cheapest of its domain
    std::uint32_t end = 0;       // of its values there
  };
  struct Change {
    std::uint32_t variable, cheapest;
  };

  void rank(std::size_t variable, std::size_t size, const double* logs) {
    const auto begin = variable * width_;
    const std::span values(values_.data() + begin, size);
    // By insertion: a handful of values, for every variable of every row.
    for (std::size_t value = 0; value < size; ++value) {
      auto place = value;
      for (; place > 0 && logs[values[place - 1]] < logs[value]; --place) values[place] = values[place - 1];
      values[place] = static_cast<std::uint8_t>(value);
    }
    for (std::size_t place = 0; place < size; ++place) costs_[begin + place] = logs[values[0]] - logs[values[place]];
    variables_[variable] = {costs_[begin], static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + size)};
  }

  bool has(std::size_t variable, std::uint32_t place) const { return domains_[variable] >> values_[place] & 1; }

  // Finds the cheapest value again after a domain became smaller.
  void refresh(std::size_t index) {
    auto& variable = variables_[index];
    if (has(index, variable.cheapest)) return;
    trail_.push_back({static_cast<std::uint32_t>(index), variable.cheapest});
    while (!has(index, variable.cheapest)) ++variable.cheapest;
    const auto cost = costs_[variable.cheapest];
    least_ += cost - variable.least;
    variable.least = cost;
  }

  bool decide(std::size_t variable, std::int64_t value) {
    if (!propagation_->decide(static_cast<std::int64_t>(variable), value)) return false;
    for (const auto changed : propagation_->changed()) refresh(static_cast<std::size_t>(changed));
    return can_pay(least_);
  }

  void undo(std::size_t changes, double least) {
    propagation_->undo();
    for (; trail_.size() > changes; trail_.pop_back()) {
      auto& variable = variables_[trail_.back().variable];
      variable.cheapest = trail_.back().cheapest;
      variable.least = costs_[variable.cheapest];
    }
    least_ = least;  // rather than by subtraction, which would let rounding errors grow
  }

  bool can_pay(double cost) {
    if (cost <= limit_) return true;
    cheapest_cut_ = std::min(cheapest_cut_, cost);
    return false;
  }

  // The undecided variable with the fewest values that can be paid for; the number of variables where all are decided.
  std::size_t choose() const {
    const double spare = limit_ - least_;
    std::size_t choice = variables_.size();
    int fewest = std::numeric_limits<int>::max();
    for (std::size_t index = 0; index < variables_.size() && fewest > 1; ++index) {
      const auto domain = domains_[index];
      if ((domain & (domain - 1)) == 0) continue;
      const auto& variable = variables_[index];
      const double most = variable.least + spare;
      int count = 1;
      for (auto place = variable.cheapest + 1; place < variable.end && costs_[place] <= most && count < fewest;
           ++place) {
        count += has(index, place);
      }
      if (count < fewest) {
        fewest = count;
        choice = index;
      }
    }
    return choice;
  }

  void descend() {
    const auto index = choose();
    if (index == variables_.size()) {
      complete();
      return;
    }
    const auto variable = variables_[index];
    const double others = least_ - variable.least;
    const auto least = least_;
    const auto changes = trail_.size();
    for (auto place = variable.cheapest; place < variable.end && !stopped_; ++place) {
      if (!has(index, place)) continue;
      if (!can_pay(others + costs_[place])) return;
      if (nodes_ == limits_.nodes) {
        stopped_ = true;
        return;
      }
      ++nodes_;
      if (decide(index, values_[place])) descend();
      undo(changes, least);
    }
  }

  void complete() {
    double cost = 0;
    for (std::size_t variable = 0; variable < world_.size(); ++variable) {
      world_[variable] = std::countr_zero(domains_[variable]);
      cost += variables_[variable].least;
    }
    if (cost >= gap_ || !gives_output(problem_, world_, wanted_)) return;
    best_ = world_;
    gap_ = cost;
    limit_ = cost - kSameCost;
  }

  const Problem& problem_;
  Values wanted_;
  std::size_t width_;
  SearchLimits limits_;
  std::vector<std::uint8_t> values_;  // [variables, width], each row cheapest first
  std::vector<double> costs_;         // theirs, in nats, 0 for each variable's most likely value
  std::vector<Variable> variables_;
  std::vector<Change> trail_;  // cheapest values before they left their domains
  Propagation* propagation_ = nullptr;
  std::span<const std::uint64_t> domains_;
  double least_ = 0;                 // what a world costs at least, given what is decided
  double limit_ = 0;                 // what it may cost
  double cheapest_cut_ = kInfinity;  // the least that anything cost that could not be paid for
  std::vector<std::int64_t> world_, best_;
  double gap_ = kInfinity;
  std::int64_t nodes_ = 0;
  bool stopped_ = false;
};

// log P of the most likely value. Throws Error if there is none.
double largest_log(LogBeliefRows logs, const Space& worlds, std::int64_t row, std::int64_t variable) {
  double largest = kLogOfZero;
  for (std::int64_t value = 0; value < worlds.domain(variable); ++value) {
    const double log = logs(row, variable, value);
    if (std::isnan(log) || log == kInfinity) {
      throw Error(fmt::format("beliefs: example {}, variable {}: value {} has the log-probability {}", row, variable,
                              value, log));
    }
    largest = std::max(largest, log);
  }
  if (largest == kLogOfZero)
    throw Error(fmt::format("beliefs: example {}, variable {}: no value is possible", row, variable));
  return largest;
}

// log p(w|P) of the most likely world of each row.
std::vector<double> largest_log_probs(LogBeliefRows logs, const Space& worlds) {
  std::vector<double> sums(static_cast<std::size_t>(logs.size), 0);
  for (std::int64_t row = 0; row < logs.size; ++row) {
    for (std::int64_t variable = 0; variable < logs.variables; ++variable) {
      sums[static_cast<std::size_t>(row)] += largest_log(logs, worlds, row, variable);
    }
  }
  return sums;
}

void check_arguments(const Problem& problem, const Query& query, const SearchLimits& limits) {
  const auto& worlds = problem.worlds();
  const auto& space = problem.outputs();
  if (query.logs.variables != worlds.variables() || query.logs.width < worlds.largest_domain()) {
    throw Error(fmt::format("beliefs: {} variables of {} values; worlds have {} of up to {}", query.logs.variables,
                            query.logs.width, worlds.variables(), worlds.largest_domain()));
  }
  if (query.outputs.size() != query.size() || query.outputs.width() != space.variables()) {
    throw Error(fmt::format("outputs: shape ({}, {}), expected ({}, {})", query.outputs.size(), query.outputs.width(),
                            query.size(), space.variables()));
  }
  if (!(limits.nats >= 0) || limits.nodes < 0) {
    throw Error(
        fmt::format("search: limits of {} nats and {} nodes; neither may be negative", limits.nats, limits.nodes));
  }
  for (std::int64_t row = 0; row < query.size(); ++row) {
    for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
      const auto value = query.outputs[row][static_cast<std::size_t>(variable)];
      if (value < space.domain(variable) && value >= kUnset) continue;
      throw Error(fmt::format("outputs: example {}, variable {}: value {} of {} values", row, variable, value,
                              space.domain(variable)));
    }
  }
}

std::vector<ConsistentWorld> by_automaton(std::shared_ptr<const Automaton> automaton, const Query& query,
                                          const std::vector<double>& largest, double nats) {
  Points worlds(query.size(), query.logs.variables);
  std::vector<double> log_probs(largest.size());
  make_automaton_backend(std::move(automaton))->most_probable(query, worlds, log_probs);
  std::vector<ConsistentWorld> result(largest.size());
  for (std::size_t row = 0; row < result.size(); ++row) {
    // Rounding may leave a little less than nothing.
    const double gap = std::max(0.0, largest[row] - log_probs[row]);
    if (gap > nats || gap == kInfinity) continue;
    const auto world = worlds[static_cast<std::int64_t>(row)];
    result[row].world.assign(world.begin(), world.end());
    result[row].gap = gap;
  }
  return result;
}

std::vector<ConsistentWorld> by_search(const Problem& problem, const Query& query, const SearchLimits& limits) {
  const Domains too_large_domains_are_refused(problem.worlds());
  const auto* const propagations = problem.facts().find<PropagationOf>();
  const auto* const pruner = propagations != nullptr ? nullptr : problem.facts().find<Pruner>();
  const auto propagation_of = [&](Values output) -> std::unique_ptr<Propagation> {
    if (propagations != nullptr) return propagations->make(output);
    if (pruner != nullptr) return std::make_unique<PrunerPropagation>(*pruner, problem.worlds(), output);
    return std::make_unique<NoPropagation>(problem.worlds());
  };

  std::vector<ConsistentWorld> result(static_cast<std::size_t>(query.size()));
  // Rows differ a thousandfold in cost, so threads take one after another instead of a share each.
  std::atomic<std::int64_t> next = 0;
  parallel_for(query.size(), kRowsPerThread, [&](std::int64_t, std::int64_t) {
    for (auto row = next++; row < query.size(); row = next++) {
      const auto output = query.outputs[row];
      Search search(problem, output, query.logs.row(row), query.logs.width, limits);
      if (!search.try_most_likely()) search.run(*propagation_of(output));
      result[static_cast<std::size_t>(row)] = search.result();
    }
  });
  return result;
}

}  // namespace

std::vector<ConsistentWorld> most_probable_worlds(const Problem& problem, const Query& query,
                                                  const SearchLimits& limits) {
  check_arguments(problem, query, limits);
  const auto largest = largest_log_probs(query.logs, problem.worlds());
  if (query.size() == 0) return {};
  auto automaton = problem.facts().share<Automaton>();
  return automaton ? by_automaton(std::move(automaton), query, largest, limits.nats)
                   : by_search(problem, query, limits);
}

}  // namespace anesi

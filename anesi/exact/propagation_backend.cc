#include "anesi/exact/propagation_backend.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/pruner.h"
#include "anesi/exact/backends.h"
#include "anesi/logic/formula_graph.h"

namespace anesi {
namespace {

constexpr double kSharpness = 50;                 // of the bend at the weight of all worlds
constexpr std::int64_t kNumbersAtOnce = 1 << 20;  // of beliefs, while variables are chosen

// An estimate that may be above 0 as the logarithm of a probability: bent just before it.
double bent(double log, double& slope) {
  const double e = std::exp(-kSharpness * std::abs(log));
  slope = log < 0 ? 1 / (1 + e) : e / (1 + e);
  return std::min(log, 0.0) - std::log1p(e) / kSharpness;
}

// log(1 - e^log) of log <= 0.
double log_of_rest(double log) { return log < -0.7 ? std::log1p(-std::exp(log)) : std::log(-std::expm1(log)); }

FactorGraph graph_of(const Problem& problem) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) throw UsageError("propagation: the problem gives no formula (a fact of type Cnf)");
  if (problem.outputs() != Space{2}) throw UsageError("propagation: the problem must have one output of two values");
  return factor_graph_of(*cnf, problem.worlds());
}

class PropagationBackend final : public Backend {
 public:
  PropagationBackend(const Problem& problem, const PropagationOptions& options)
      : Backend(problem.worlds(), problem.outputs()),
        graph_(graph_of(problem)),
        propagation_(graph_, options),
        pruner_(problem.facts().share<Pruner>()) {}

  bool is_exact() const override { return false; }

 protected:
  void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const override {
    propagation_.log_count(query.logs, {}, log_probs, gradient);
    const auto width = query.logs.width;
    std::vector<double> beliefs(as_size(query.logs.row_size()));
    for (std::int64_t row = 0; row < query.size(); ++row) {
      auto& log_prob = log_probs[as_size(row)];
      const auto slopes =
          gradient.empty() ? std::span<double>() : std::span(gradient.row(row), as_size(gradient.row_size()));
      // All worlds together, and the derivative of that.
      double all = 0;
      std::ranges::fill(beliefs, 0.0);
      for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
        const std::span values(&query.logs(row, variable, 0), as_size(worlds().domain(variable)));
        const double sum = log_sum(values);
        all += sum;
        for (std::size_t value = 0; sum > kLogOfZero && value < values.size(); ++value) {
          beliefs[as_size(variable * width) + value] = std::exp(values[value] - sum);
        }
      }
      const auto output = query.outputs[row][0];
      const bool one = admits(output, 1), zero = admits(output, 0);
      double of_count = one && !zero ? 1 : 0, of_all = one && zero ? 1 : 0;
      if (all == kLogOfZero || (!one && !zero)) {
        log_prob = kLogOfZero;
        of_count = of_all = 0;
      } else if (one && zero) {
        log_prob = all;
      } else if (log_prob > kLogOfZero) {
        double slope = 1;
        const double share = propagation_.is_exact() ? std::min(log_prob - all, 0.0) : bent(log_prob - all, slope);
        if (one) {
          of_count = slope;
          of_all = 1 - slope;
          log_prob = all + share;
        } else {
          const double rest = log_of_rest(share);
          of_count = rest == kLogOfZero ? 0 : -std::exp(share - rest) * slope;
          of_all = rest == kLogOfZero ? 0 : 1 - of_count;
          log_prob = all + rest;
        }
      } else if (zero) {
        log_prob = all;
        of_all = 1;
      }
      for (std::size_t entry = 0; entry < slopes.size(); ++entry) {
        slopes[entry] = of_count * slopes[entry] + of_all * beliefs[entry];
      }
    }
  }

  void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const override {
    std::fill(log_probs.begin(), log_probs.end(), 0.0);
    choose(query, worlds, [&](std::int64_t row, std::span<const double> logs) {
      const auto best = std::ranges::max_element(logs);
      if (*best == kLogOfZero) log_probs[as_size(row)] = kLogOfZero;
      return best - logs.begin();
    });
    for (std::int64_t row = 0; row < query.size(); ++row) {
      auto& log_prob = log_probs[as_size(row)];
      for (std::int64_t variable = 0; variable < this->worlds().variables(); ++variable) {
        log_prob += query.logs(row, variable, worlds[row][as_size(variable)]);
      }
      if (!may_give(worlds[row], query.outputs[row][0])) log_prob = kLogOfZero;
    }
  }

  void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const override {
    choose(query, worlds, [&](std::int64_t row, std::span<const double> logs) {
      const double sum = log_sum(logs);
      if (sum == kLogOfZero) throw Error("propagation: no world gives the output");
      double left = randoms[as_size(row)].uniform();
      std::ptrdiff_t last = 0;
      for (std::size_t value = 0; value < logs.size(); ++value) {
        if (logs[value] == kLogOfZero) continue;
        last = static_cast<std::ptrdiff_t>(value);
        left -= std::exp(logs[value] - sum);
        if (left < 0) break;
      }
      return last;
    });
  }

  // By differences of the gradient: it is an estimate's, of which products of marginals are no second derivatives.
  void find_hessian_product(const Query& query, LogBeliefRows direction, GradientRows result, Of of) const override {
    constexpr double kStep = 1e-5;
    const auto row_size = query.logs.row_size();
    std::vector<double> moved(as_size(query.size() * row_size)), slopes(moved.size()), log_probs(as_size(query.size()));
    const GradientRows moved_rows(moved.data(), query.size(), query.logs.variables, query.logs.width);
    const GradientRows slope_rows(slopes.data(), query.size(), query.logs.variables, query.logs.width);
    for (const double sign : {1.0, -1.0}) {
      for (std::int64_t row = 0; row < query.size(); ++row) {
        const double step = kStep / largest_of(direction, row);
        for (std::int64_t entry = 0; entry < row_size; ++entry) {
          moved_rows.row(row)[entry] = query.logs.row(row)[entry] + sign * step * direction.row(row)[entry];
        }
      }
      if (of == Of::kOutput) {
        log_prob({moved_rows, query.outputs}, log_probs, slope_rows);
      } else {
        log_prob_of_others({moved_rows, query.outputs}, log_probs, slope_rows);
      }
      for (std::int64_t row = 0; row < query.size(); ++row) {
        const double step = kStep / largest_of(direction, row);
        for (std::int64_t entry = 0; entry < row_size; ++entry) {
          result.row(row)[entry] += sign * slope_rows.row(row)[entry] / (2 * step);
        }
      }
    }
  }

 private:
  // The largest number of a row, of the values that variables have; 1 if all are 0.
  double largest_of(const LogBeliefRows& direction, std::int64_t row) const {
    double largest = 0;
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
        largest = std::max(largest, std::abs(direction(row, variable, value)));
      }
    }
    return largest > 0 ? largest : 1;
  }

  // Chooses one variable after another by choice(row, log p(w_i = v | chosen, y) up to a constant).
  template <typename Choice>
  void choose(const Query& query, MutablePointRows worlds, Choice choice) const {
    const auto rows =
        std::max<std::int64_t>(1, kNumbersAtOnce / (query.logs.row_size() * this->worlds().largest_domain()));
    for (std::int64_t begin = 0; begin < query.size(); begin += rows) {
      const auto end = std::min(begin + rows, query.size());
      choose_some(query.slice(begin, end), worlds.slice(begin, end),
                  [&](std::int64_t row, std::span<const double> logs) { return choice(begin + row, logs); });
    }
  }

  template <typename Choice>
  void choose_some(const Query& query, MutablePointRows worlds, Choice choice) const {
    const auto size = query.size(), row_size = query.logs.row_size(), width = query.logs.width;
    const auto variables = this->worlds().variables();
    std::vector<double> chosen(query.logs.data, query.logs.data + size * row_size), asked, log_probs;
    std::ranges::fill(worlds.values(), kUnset);
    for (const auto variable : propagation_.order()) {
      const auto domain = this->worlds().domain(variable);
      // Each row once for each value, certain of it.
      asked.resize(as_size(size * domain * row_size));
      Points outputs(size * domain, 1);
      log_probs.resize(as_size(size * domain));
      for (std::int64_t place = 0; place < size * domain; ++place) {
        const auto row = place / domain, value = place % domain;
        auto* const beliefs = asked.data() + place * row_size;
        std::copy_n(chosen.data() + row * row_size, row_size, beliefs);
        for (std::int64_t other = 0; other < domain; ++other) {
          if (other != value) beliefs[variable * width + other] = kLogOfZero;
        }
        outputs[place][0] = query.outputs[row][0];
      }
      log_prob({LogBeliefRows(asked.data(), size * domain, variables, width), outputs}, log_probs);
      const auto allowed = std::make_unique<bool[]>(as_size(domain));
      for (std::int64_t row = 0; row < size; ++row) {
        const std::span logs(log_probs.data() + row * domain, as_size(domain));
        auto* const beliefs = chosen.data() + row * row_size + variable * width;
        if (pruner_ != nullptr) {
          const Mask mask(allowed.get(), as_size(domain));
          std::ranges::fill(mask, false);
          pruner_->allow_worlds(query.outputs[row], worlds[row], variable, mask);
          for (std::size_t value = 0; value < mask.size(); ++value) {
            if (!mask[value]) logs[value] = kLogOfZero;
          }
          // The estimate knows of none of them: then by belief.
          if (*std::ranges::max_element(logs) == kLogOfZero) {
            for (std::size_t value = 0; value < mask.size(); ++value) {
              if (mask[value]) logs[value] = beliefs[value];
            }
          }
        }
        const auto value = choice(row, logs);
        worlds[row][as_size(variable)] = value;
        for (std::int64_t other = 0; other < domain; ++other) {
          if (other != value) beliefs[other] = kLogOfZero;
        }
      }
    }
  }

  // False if a world does not give the output; unknown of formulas with variables of their own.
  bool may_give(Values world, std::int64_t output) const {
    if (graph_.own_variables > 0) return true;
    return admits(output, is_violated(graph_, world) ? 0 : 1);
  }

  FactorGraph graph_;
  BeliefPropagation propagation_;
  std::shared_ptr<const Pruner> pruner_;
};

[[maybe_unused]] const bool registered = backends().add(
    "propagation",
    {.summary = "belief propagation along a constraint's clauses; approximate",
     .chosen_automatically = false,
     .is_approximate = true,
     .applies =
         [](const Problem& problem, const ExactOptions&) {
           const bool fits = problem.outputs() == Space{2} && problem.facts().find<Cnf>() != nullptr;
           return fits ? std::optional(BackendCost()) : std::nullopt;
         },
     .make = [](const Problem& problem, const ExactOptions&) { return make_propagation_backend(problem); }});

}  // namespace

std::unique_ptr<Backend> make_propagation_backend(const Problem& problem, const PropagationOptions& options) {
  return std::make_unique<PropagationBackend>(problem, options);
}

}  // namespace anesi

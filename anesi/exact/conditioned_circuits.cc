// A circuit of what a formula says once the output is known, for each output that was asked about.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/exact/backends.h"
#include "anesi/exact/circuit_backend.h"
#include "anesi/exact/formula_backend.h"

namespace anesi {
namespace {

constexpr std::size_t kMostOutputs = 1000;

class ConditionedCircuits final : public FormulaBackend {
 public:
  ConditionedCircuits(const Problem& problem, const Cnf& cnf, double seconds)
      : FormulaBackend(problem, cnf.encoding(), cnf.variables()), clauses_(cnf.clauses()), seconds_(seconds) {}

  const CountedFormula& formula_for(Values output) const override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::int64_t> key(output.begin(), output.end());
    std::ranges::replace_if(
        key, [](std::int64_t asked) { return asked < 0; }, kUnset);
    if (const auto failed = failures_.find(key); failed != failures_.end()) throw Error(failed->second);
    if (const auto found = formulas_.find(key); found != formulas_.end()) return found->second;
    if (formulas_.size() >= kMostOutputs) {
      throw Error(fmt::format(
          "circuits for each output: more than {} outputs were asked about; compile one circuit for all of them",
          kMostOutputs));
    }
    try {
      const auto compiled = std::make_shared<CompiledFormula>(CompiledFormula{compile(output), encoding()});
      return formulas_.try_emplace(key, compiled, seconds_).first->second;
    } catch (const Error& error) {
      failures_.emplace(key, error.what());
      throw;
    }
  }

 private:
  // Circuits of an output in part would be larger than that of a whole one.
  void find_log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient) const override {
    const auto is_whole = [&](std::int64_t row) {
      return std::ranges::all_of(query.outputs[row], [](std::int64_t asked) { return asked >= 0; });
    };
    for (std::int64_t begin = 0, end = 0; begin < query.size(); begin = end) {
      const bool whole = is_whole(begin);
      while (end < query.size() && is_whole(end) == whole) ++end;
      const auto its = log_probs.subspan(as_size(begin), as_size(end - begin));
      if (whole) {
        find_log_prob_of_rest(query.slice(begin, end), its, gradient.slice(begin, end));
      } else {
        FormulaBackend::find_log_prob_of_others(query.slice(begin, end), its, gradient.slice(begin, end));
      }
    }
  }

  // Clauses that the output makes true go, and so do literals that it makes false; outputs are in none that is left.
  Circuit compile(Values output) const {
    std::vector<bool> is_true(2 * static_cast<std::size_t>(variables()) + 1, false);
    const auto place = [&](int literal) { return static_cast<std::size_t>(std::int64_t{literal} + variables()); };
    for (std::size_t variable = 0; variable < encoding().outputs.size(); ++variable) {
      if (output[variable] < 0) continue;  // several values will do
      const auto& literals = encoding().outputs[variable];
      for (std::size_t value = 0; value < literals.size(); ++value) {
        const bool holds = static_cast<std::int64_t>(value) == output[variable];
        is_true[place(holds ? literals[value] : -literals[value])] = true;
      }
    }
    std::vector<std::vector<int>> clauses;
    for (const auto& clause : clauses_) {
      if (std::ranges::any_of(clause, [&](int literal) { return is_true[place(literal)]; })) continue;
      auto& rest = clauses.emplace_back();
      for (const auto literal : clause) {
        if (!is_true[place(-literal)]) rest.push_back(literal);
      }
    }
    return Circuit::compile(variables(), clauses, seconds_);
  }

  std::vector<std::vector<int>> clauses_;
  double seconds_;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::int64_t>, CountedFormula> formulas_;
  mutable std::map<std::vector<std::int64_t>, std::string> failures_;  // why an output's did not compile
};

// Whether its formulas compile shows only when outputs are asked about, so it is not chosen unless it is named.
[[maybe_unused]] const bool registered = backends().add(
    "conditioned",
    {.summary = "a circuit of the problem's formula for each output that is asked about",
     .chosen_automatically = false,
     .applies =
         [](const Problem& problem, const ExactOptions&) {
           const bool has = problem.facts().find<Cnf>() != nullptr;
           return has ? std::optional(BackendCost()) : std::nullopt;
         },
     .make = [](const Problem& problem,
                const ExactOptions& options) { return make_conditioned_circuits_backend(problem, options.seconds); }});

}  // namespace

std::unique_ptr<Backend> make_conditioned_circuits_backend(const Problem& problem, double seconds) {
  const auto& formula = formula_of(problem);
  // A constraint has the output that it holds, and no variables of outputs to condition on.
  if (formula.encoding().is_constraint()) return make_circuit_backend(problem, seconds);
  return std::make_unique<ConditionedCircuits>(problem, formula, seconds);
}

}  // namespace anesi

// What back ends have in common that count the models of compiled formulas.
//
// Of a function, the formula's models are the pairs of worlds and outputs; of a constraint, the worlds whose one output
// is 1, and what is asked for may be those that violate it.
#pragma once

#include <functional>
#include <vector>

#include "anesi/exact/backend.h"
#include "anesi/exact/counted_formula.h"
#include "anesi/logic/violation.h"

namespace anesi {

class FormulaBackend : public Backend {
 public:
  // The formula has so many variables.
  FormulaBackend(const Problem& problem, Encoding encoding, int variables)
      : Backend(problem.worlds(), problem.outputs()), encoding_(std::move(encoding)), variables_(variables) {}

  // The formula that answers for an output. Called from several threads at once.
  virtual const CountedFormula& formula_for(Values output) const = 0;

 protected:
  void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const override;
  void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const override;
  void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const override;
  void find_entropy(const Query& query, std::span<double> entropies, GradientRows gradient) const override;

  // The log-probability of what the formulas for these outputs leave of all worlds, for formulas of those worlds alone.
  void find_log_prob_of_rest(const Query& query, std::span<double> log_probs, GradientRows gradient) const;

  const Encoding& encoding() const { return encoding_; }
  int variables() const { return variables_; }

 private:
  enum class Wanted { kModels, kViolations, kAll, kNothing };
  struct Row {
    std::int64_t index;
    Values output;
    BelievedLogs logs;
    Wanted wanted;
    const CountedFormula* formula;
  };
  struct Answers {
    std::span<double> log_probs;
    GradientRows gradient;
  };
  // What the literals of outputs weigh: one if they are what is asked for and zero if not, or all one.
  enum class OutputWeights { kAsked, kOne };

  Wanted wanted(Values output) const;
  Row row_of(const Query& query, std::int64_t index) const;
  void fill(const Row& row, OutputWeights of_outputs, std::span<double> weights) const;
  // Calls visit(variable, value, place of its literal).
  template <typename Visit>
  void for_each_literal(Visit visit) const;
  std::size_t place_of(int literal) const { return static_cast<std::size_t>(std::int64_t{literal} + variables_); }

  using Circuits = const CircuitBatch& (CountedFormula::*)() const;
  using Take = std::function<void(const Row& row, double log_count, std::span<const double> derivative)>;
  // Asks each row's circuit, as many rows at once as share one.
  void count(const std::vector<Row>& rows, Circuits circuits, OutputWeights of_outputs, bool with_derivative,
             const Take& take) const;
  void count_models(const std::vector<Row>& rows, const Answers& answers) const;
  void count_rest(const std::vector<Row>& rows, const Answers& answers) const;
  void count_all(const Row& row, const Answers& answers) const;
  Take write_to(const Answers& answers) const;

  // The logarithm of what each variable's beliefs sum to, and of what all worlds do.
  std::vector<double> log_sums(const BelievedLogs& logs, double& all) const;
  double best_of_all(const BelievedLogs& logs, MutableValues world) const;
  void draw_of_all(const BelievedLogs& logs, Random& random, MutableValues world) const;

  Encoding encoding_;
  int variables_;
};

}  // namespace anesi

#include "anesi/models/circuit_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/logic/violation.h"

namespace anesi {
namespace {

// 1 - p is computed as such where it is above this. Below it too few digits are left, and a circuit of the violations
// counts them.
constexpr double kLeastRest = 1e-4;

// log(1 - p).
double log_of_rest(double log_p) {
  if (log_p >= 0) return kLogOfZero;
  return log_p > -0.7 ? std::log(-std::expm1(log_p)) : std::log1p(-std::exp(log_p));
}

// A circuit of the worlds that violate a formula, made when it is first asked for.
class Violations {
 public:
  // Throws Error where it did not compile.
  const Circuit& of(const CompiledFormula& formula, double seconds) const {
    const std::scoped_lock lock(mutex_);
    if (!why_not_.empty()) throw Error(why_not_);
    try {
      if (!circuit_) circuit_ = violations_of(formula, seconds);
    } catch (const Error& error) {
      why_not_ = error.what();
      throw;
    }
    return *circuit_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<Circuit> circuit_;
  mutable std::string why_not_;
};

class CircuitInference : public ExactInference {
 public:
  CircuitInference(const Problem& problem, Encoding encoding)
      : ExactInference(problem.worlds()), encoding_(std::move(encoding)) {}

  // The formula that answers for an output. Called from several threads at once.
  virtual const CompiledFormula& formula_for(Values output) const = 0;
  // The worlds that violate the formula for an output. Throws Error where no circuit of them was found.
  virtual const Circuit& violations_for(Values output) const = 0;

 protected:
  // By what the worlds that give an output leave of all worlds, where its formula is of these worlds alone.
  torch::Tensor measured_rest(const torch::Tensor& logs, const torch::Tensor& outputs) const {
    return measured(logs, outputs, &CircuitInference::measure_rest);
  }

 private:
  torch::Tensor find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return measured(logs, outputs, &CircuitInference::measure_log_prob);
  }
  torch::Tensor find_entropy(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return measured(logs, outputs, &CircuitInference::measure_entropy);
  }

  MostProbable find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    auto log_probs = torch::empty({logs.size(0)}, torch::kFloat64);
    auto all_worlds = torch::zeros({logs.size(0), worlds().variables()}, torch::kInt64);
    for_each_row(logs, outputs, [&](const Row& row) {
      auto* const world = all_worlds.mutable_data_ptr<std::int64_t>() + row.index * worlds().variables();
      auto& log_prob = log_probs.mutable_data_ptr<double>()[row.index];
      const auto best_of = [&](const Circuit& circuit) {
        std::vector<bool> model;
        log_prob = circuit.best_model(row.weights, model);
        if (log_prob != kLogOfZero) read_values(encoding_.worlds, model, world);
      };
      switch (row.wants) {
        case Wants::kNothing:
          log_prob = kLogOfZero;
          break;
        case Wants::kAnything:
          log_prob = best_of_all(row.logs, world);
          break;
        case Wants::kViolation:  // it is among the most likely worlds as a rule
          log_prob = best_violation(row.formula, row.logs, world);
          if (log_prob == kLogOfZero) best_of(violations_for(row.output));
          break;
        case Wants::kModel:
          best_of(row.formula.circuit);
      }
    });
    return {all_worlds, log_probs};
  }

  torch::Tensor draw(const torch::Tensor& logs, const torch::Tensor& outputs, at::Generator generator) const override {
    auto all_worlds = torch::zeros({logs.size(0), worlds().variables()}, torch::kInt64);
    // A generator of its own for each row, so that draws do not depend on which thread comes first.
    const auto seeds = torch::randint(std::int64_t{1} << 62, {logs.size(0)}, std::move(generator), torch::kInt64);
    const auto* const seed = seeds.const_data_ptr<std::int64_t>();
    for_each_row(logs, outputs, [&](const Row& row) {
      std::mt19937_64 engine(static_cast<std::uint64_t>(seed[row.index]));
      std::uniform_real_distribution<double> uniform(0, 1);
      auto* const world = all_worlds.mutable_data_ptr<std::int64_t>() + row.index * worlds().variables();
      const auto uniformly = [&] { return uniform(engine); };
      const auto draw_of = [&](const Circuit& circuit) {
        std::vector<bool> model;
        circuit.sample_model(row.weights, model, uniformly);
        read_values(encoding_.worlds, model, world);
      };
      if (row.wants == Wants::kNothing) throw Error("no world of positive probability gives the output");
      if (row.wants == Wants::kModel) return draw_of(row.formula.circuit);
      const Values drawn(world, static_cast<std::size_t>(worlds().variables()));
      for (int tries = 0; tries < kDrawsToViolate; ++tries) {
        draw_world(row.logs, world, uniformly);
        if (row.wants == Wants::kAnything || !satisfies(row.formula, drawn)) return;
      }
      draw_of(violations_for(row.output));
    });
    return all_worlds;
  }

  // Of a constraint, worlds may be asked for that violate it, or any, or none.
  enum class Wants { kModel, kViolation, kAnything, kNothing };
  struct Row {
    std::int64_t index;
    Values output;
    BelievedLogs logs;
    Wants wants;
    const CompiledFormula& formula;
    // Of every literal, as logarithms: beliefs for worlds, one or zero for outputs.
    const Circuit::Weights& weights;
  };

  // A number of each row and its gradient, which is found on the way forward, since both take the same pass.
  using MeasureRow = double (CircuitInference::*)(const Row& row, double* gradient) const;
  class Measure : public torch::autograd::Function<Measure> {
   public:
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logs,
                                 const torch::Tensor& outputs, const CircuitInference* self, MeasureRow measure,
                                 bool differentiable) {
      auto result = torch::empty({logs.size(0)}, torch::kFloat64);
      const auto contiguous = logs.detach().contiguous();
      auto gradient = differentiable ? torch::zeros_like(contiguous) : torch::Tensor();
      const auto stride = logs.size(1) * logs.size(2);
      self->for_each_row(contiguous, outputs, [&](const Row& row) {
        auto* const out = differentiable ? gradient.mutable_data_ptr<double>() + row.index * stride : nullptr;
        result.mutable_data_ptr<double>()[row.index] = (self->*measure)(row, out);
      });
      if (differentiable) context->save_for_backward({gradient, logs});
      return result;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& upstream) {
      const auto saved = context->get_saved_variables();
      const auto gradient = saved[0] * upstream[0].detach().view({-1, 1, 1});
      return {differentiable_no_further(gradient, saved[1], upstream[0]), torch::Tensor(), torch::Tensor(),
              torch::Tensor(), torch::Tensor()};
    }
  };

  torch::Tensor measured(const torch::Tensor& logs, const torch::Tensor& outputs, MeasureRow measure) const {
    const bool differentiable = torch::GradMode::is_enabled() && logs.requires_grad();
    return Measure::apply(logs, outputs, this, measure, differentiable);
  }

  double measure_log_prob(const Row& row, double* gradient) const {
    if (row.wants == Wants::kNothing) return kLogOfZero;
    if (row.wants == Wants::kModel) return measure_models(row.formula.circuit, row, gradient);
    return measure_rest(row, gradient);
  }

  // What the formula's models leave of all worlds; all of them where any world will do.
  double measure_rest(const Row& row, double* gradient) const {
    // All worlds do not add up to one, but nearly, where beliefs come as 32-bit numbers.
    std::vector<double> log_sums;  // of each variable's beliefs
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      double sum = 0;
      for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
        sum += std::exp(row.logs(variable, value));
      }
      log_sums.push_back(std::log(sum));
    }
    const auto all = std::accumulate(log_sums.begin(), log_sums.end(), 0.0);
    const auto& circuit = row.formula.circuit;
    Circuit::Weights derivative;
    auto models = kLogOfZero;
    if (row.wants != Wants::kAnything) {
      models = gradient == nullptr ? circuit.log_count(row.weights) : circuit.log_count(row.weights, derivative);
    }
    const auto log_rest = log_of_rest(models - all);
    if (log_rest < std::log(kLeastRest)) {
      // There, variables that are not of worlds are false.
      auto weights = row.weights;
      for (const auto& literals : encoding_.outputs) {
        for (const auto literal : literals) weights[place_of(literal)] = weights[place_of(-literal)] = 0;
      }
      const Row without_outputs{row.index, row.output, row.logs, row.wants, row.formula, weights};
      return measure_models(violations_for(row.output), without_outputs, gradient);
    }
    if (gradient == nullptr) return all + log_rest;
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      // Of all worlds, those with this value; of these, those that are no models.
      const auto with_value = std::exp(row.logs(variable, value) - log_sums[static_cast<std::size_t>(variable)]);
      const auto models_with_value = models == kLogOfZero ? 0 : derivative[place] * std::exp(models - all);
      // Rounding may leave more models than worlds: none of them violates.
      gradient[variable * row.logs.width + value] = std::max(0.0, with_value - models_with_value) / std::exp(log_rest);
    });
    return all + log_rest;
  }

  double measure_models(const Circuit& circuit, const Row& row, double* gradient) const {
    if (gradient == nullptr) return circuit.log_count(row.weights);
    Circuit::Weights derivative;
    const auto result = circuit.log_count(row.weights, derivative);
    if (result == kLogOfZero) return result;  // no direction leads out
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      gradient[variable * row.logs.width + value] = derivative[place];
    });
    return result;
  }

  double measure_entropy(const Row& row, double* gradient) const {
    if (row.wants != Wants::kModel) throw UsageError("entropy: only of worlds that satisfy a constraint");
    Circuit::Weights derivative;
    const auto result = row.formula.circuit.entropy(row.weights, derivative);
    if (gradient == nullptr) return result;
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      // The entropy has an infinite slope where a probability is zero; there it stays.
      gradient[variable * row.logs.width + value] = row.weights[place] == kLogOfZero ? 0 : derivative[place];
    });
    return result;
  }

  // Calls visit(variable, value, place) with the place of the literal of each value of each world variable.
  template <typename Visit>
  void for_each_literal(Visit visit) const {
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
        visit(variable, value, static_cast<std::size_t>(std::int64_t{encoding_.world(variable, value)} + variables_));
      }
    }
  }

  template <typename Visit>
  void for_each_row(const torch::Tensor& logs, const torch::Tensor& outputs, Visit visit) const {
    const auto given = logs.detach().contiguous();
    const auto width = given.size(2), variables = given.size(1), asked_variables = outputs.size(1);
    parallel_for(given.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      Circuit::Weights weights;
      for (auto index = begin; index < end; ++index) {
        const Values output(outputs.const_data_ptr<std::int64_t>() + index * asked_variables,
                            static_cast<std::size_t>(asked_variables));
        const BelievedLogs believed{given.const_data_ptr<double>() + index * variables * width, width};
        weights.assign(2 * static_cast<std::size_t>(variables_) + 1, 0.0);
        for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
          weights[place] = believed(variable, value);
        });
        auto wants = Wants::kModel;
        if (encoding_.is_constraint()) {
          const bool model = admits(output[0], 1), violation = admits(output[0], 0);
          wants = model && violation ? Wants::kAnything
                  : model            ? Wants::kModel
                  : violation        ? Wants::kViolation
                                     : Wants::kNothing;
        }
        for (std::size_t variable = 0; variable < encoding_.outputs.size(); ++variable) {
          const auto& literals = encoding_.outputs[variable];
          for (std::size_t value = 0; value < literals.size(); ++value) {
            // The value that is asked for is true, which clauses need not say once the output is known.
            const auto is = static_cast<std::int64_t>(value);
            if (!admits(output[variable], is)) weights[place_of(literals[value])] = kLogOfZero;
            if (output[variable] == is) weights[place_of(-literals[value])] = kLogOfZero;
          }
        }
        visit(Row{index, output, believed, wants, formula_for(output), weights});
      }
    });
  }
  std::size_t place_of(int literal) const { return static_cast<std::size_t>(std::int64_t{literal} + variables_); }

  double best_of_all(const BelievedLogs& logs, std::int64_t* world) const {
    double log_prob = 0;
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      for (std::int64_t value = 1; value < worlds().domain(variable); ++value) {
        if (logs(variable, value) > logs(variable, world[variable])) world[variable] = value;
      }
      log_prob += logs(variable, world[variable]);
    }
    return log_prob;
  }

  template <typename Draw>
  void draw_world(const BelievedLogs& logs, std::int64_t* world, Draw draw) const {
    for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
      auto left = draw();
      for (std::int64_t value = 0; value < worlds().domain(variable); ++value) {
        const auto share = std::exp(logs(variable, value));
        if (share == 0) continue;
        world[variable] = value;
        left -= share;
        if (left < 0) break;
      }
    }
  }

 protected:
  Encoding encoding_;
  int variables_ = 0;  // of the formula; set by classes that derive from this
};

// One circuit of the whole formula, for all outputs.
class WholeCircuit final : public CircuitInference {
 public:
  WholeCircuit(const Problem& problem, std::shared_ptr<const CompiledFormula> formula, double seconds)
      : CircuitInference(problem, formula->encoding), formula_(std::move(formula)), seconds_(seconds) {
    variables_ = formula_->circuit.variables();
  }

  const CompiledFormula& formula_for(Values) const override { return *formula_; }

  const Circuit& violations_for(Values) const override { return violations_.of(*formula_, seconds_); }

 private:
  std::shared_ptr<const CompiledFormula> formula_;
  double seconds_;
  Violations violations_;
};

// A circuit of what the formula says once the output is known, for each output that was asked about.
class ConditionedCircuits final : public CircuitInference {
 public:
  ConditionedCircuits(const Problem& problem, const Cnf& cnf, double seconds)
      : CircuitInference(problem, cnf.encoding()), clauses_(cnf.clauses()), seconds_(seconds) {
    variables_ = cnf.variables();
  }

  const CompiledFormula& formula_for(Values output) const override { return entry_for(output).formula; }
  const Circuit& violations_for(Values output) const override {
    const auto& [formula, violations] = entry_for(output);
    return violations.of(formula, seconds_);
  }

 private:
  struct Entry {
    CompiledFormula formula;
    Violations violations = {};
  };

  // Circuits of an output in part would be larger than that of a whole one.
  torch::Tensor find_log_prob_of_others(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    const bool whole = (outputs >= 0).all().item<bool>();
    return whole ? measured_rest(logs, outputs) : ExactInference::find_log_prob_of_others(logs, outputs);
  }

  const Entry& entry_for(Values output) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::int64_t> key(output.begin(), output.end());
    std::ranges::replace_if(
        key, [](std::int64_t asked) { return asked < 0; }, kUnset);
    if (const auto failed = failures_.find(key); failed != failures_.end()) throw Error(failed->second);
    if (const auto found = formulas_.find(key); found != formulas_.end()) return *found->second;
    if (formulas_.size() >= kMostOutputs) {
      throw Error(fmt::format(
          "circuits for each output: more than {} outputs were asked about; compile one circuit for all of them",
          kMostOutputs));
    }
    try {
      auto entry = std::make_unique<Entry>(CompiledFormula{compile(output), encoding_});
      return *formulas_.emplace(key, std::move(entry)).first->second;
    } catch (const Error& error) {
      failures_.emplace(key, error.what());
      throw;
    }
  }

  static constexpr std::size_t kMostOutputs = 1000;

  // Clauses that the output makes true go, and so do literals that it makes false; outputs are in none that is left.
  Circuit compile(Values output) const {
    std::vector<bool> is_true(2 * static_cast<std::size_t>(variables_) + 1, false);
    const auto place = [&](int literal) { return static_cast<std::size_t>(std::int64_t{literal} + variables_); };
    for (std::size_t variable = 0; variable < encoding_.outputs.size(); ++variable) {
      if (output[variable] < 0) continue;  // several values will do
      const auto& literals = encoding_.outputs[variable];
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
    return Circuit::compile(variables_, clauses, seconds_);
  }

  std::vector<std::vector<int>> clauses_;
  double seconds_;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::int64_t>, std::unique_ptr<Entry>> formulas_;
  mutable std::map<std::vector<std::int64_t>, std::string> failures_;  // why an output's did not compile
};

}  // namespace

std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds) {
  return std::make_unique<WholeCircuit>(problem, compiled_formula(problem, seconds), seconds);
}

std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds) {
  const auto& formula = formula_of(problem);
  // A constraint has the output that it holds, and no variables of outputs to condition on.
  if (formula.encoding().is_constraint()) return make_circuit_inference(problem, seconds);
  return std::make_unique<ConditionedCircuits>(problem, formula, seconds);
}

}  // namespace anesi

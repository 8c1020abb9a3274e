#include "anesi/exact/circuit_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/violation.h"

namespace anesi {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
// The logarithm that stands for a weight of zero while derivatives are taken: small enough to change nothing, large
// enough that what it is divided by again does not vanish.
constexpr double kNearlyNever = -400;

// log(1 - p).
double log_of_rest(double log_p) {
  if (log_p >= 0) return kNever;
  return log_p > -0.7 ? std::log(-std::expm1(log_p)) : std::log1p(-std::exp(log_p));
}

class CircuitInference : public ExactInference {
 public:
  CircuitInference(const Problem& problem, Encoding encoding)
      : worlds_(problem.worlds()), outputs_(problem.outputs()), encoding_(std::move(encoding)) {}

  // The formula that answers for an output. Called from several threads at once.
  virtual const CompiledFormula& formula_for(Values output) const = 0;

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    return measured(beliefs, outputs, &CircuitInference::measure_log_prob);
  }
  torch::Tensor entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    return measured(beliefs, outputs, &CircuitInference::measure_entropy);
  }

  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    auto log_probs = torch::empty({beliefs.size(0)}, torch::kFloat64);
    auto worlds = torch::zeros({beliefs.size(0), worlds_.variables()}, torch::kInt64);
    for_each_row(beliefs, outputs, [&](const Row& row) {
      auto* const world = worlds.mutable_data_ptr<std::int64_t>() + row.index * worlds_.variables();
      auto& log_prob = log_probs.mutable_data_ptr<double>()[row.index];
      if (row.wants == Wants::kViolation) {
        log_prob = best_violation(row.formula, row.belief, world);
      } else if (row.wants == Wants::kAnything) {
        log_prob = best_of_all(row.belief, world);
      } else {
        std::vector<bool> model;
        log_prob = row.formula.circuit.best_model(row.weights, model);
        read_values(encoding_.worlds, model, world);
      }
    });
    return {worlds, log_probs};
  }

  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                       at::Generator generator) const override {
    auto worlds = torch::zeros({beliefs.size(0), worlds_.variables()}, torch::kInt64);
    // A generator of its own for each row, so that draws do not depend on which thread comes first.
    const auto seeds = torch::randint(std::int64_t{1} << 62, {beliefs.size(0)}, std::move(generator), torch::kInt64);
    const auto* const seed = seeds.const_data_ptr<std::int64_t>();
    for_each_row(beliefs, outputs, [&](const Row& row) {
      std::mt19937_64 engine(static_cast<std::uint64_t>(seed[row.index]));
      std::uniform_real_distribution<double> uniform(0, 1);
      auto* const world = worlds.mutable_data_ptr<std::int64_t>() + row.index * worlds_.variables();
      const auto draw = [&] { return uniform(engine); };
      if (row.wants == Wants::kModel) {
        std::vector<bool> model;
        row.formula.circuit.sample_model(row.weights, model, draw);
        read_values(encoding_.worlds, model, world);
        return;
      }
      const Values drawn(world, static_cast<std::size_t>(worlds_.variables()));
      for (int tries = 0; tries < kTriesToViolate; ++tries) {
        draw_world(row.belief, world, draw);
        if (row.wants == Wants::kAnything || !satisfies(row.formula, drawn)) return;
      }
      throw Error("no world that violates the constraint was drawn: beliefs are all but certain of ones that do not");
    });
    return worlds;
  }

 private:
  // Of a constraint, worlds may be asked for that violate it, or for any.
  enum class Wants { kModel, kViolation, kAnything };
  struct Row {
    std::int64_t index;
    BelievedValues belief;
    Wants wants;
    const CompiledFormula& formula;
    // Of every literal: beliefs for worlds, one or zero for outputs.
    const Circuit::Weights& weights;
  };

  // A number of each row and its gradient, which is found on the way forward, since both take the same pass.
  using MeasureRow = double (CircuitInference::*)(const Row& row, double* gradient) const;
  class Measure : public torch::autograd::Function<Measure> {
   public:
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& beliefs,
                                 const torch::Tensor& outputs, const CircuitInference* self, MeasureRow measure,
                                 bool differentiable) {
      auto result = torch::empty({beliefs.size(0)}, torch::kFloat64);
      auto gradient = differentiable ? torch::zeros_like(beliefs) : torch::Tensor();
      const auto stride = beliefs.size(1) * beliefs.size(2);
      self->for_each_row(beliefs, outputs, [&](const Row& row) {
        auto* const out = differentiable ? gradient.mutable_data_ptr<double>() + row.index * stride : nullptr;
        result.mutable_data_ptr<double>()[row.index] = (self->*measure)(row, out);
      });
      if (differentiable) context->save_for_backward({gradient});
      return result;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& upstream) {
      const auto gradient = context->get_saved_variables()[0];
      return {gradient * upstream[0].view({-1, 1, 1}), torch::Tensor(), torch::Tensor(), torch::Tensor(),
              torch::Tensor()};
    }
  };

  torch::Tensor measured(const torch::Tensor& beliefs, const torch::Tensor& outputs, MeasureRow measure) const {
    const bool differentiable = torch::GradMode::is_enabled() && beliefs.requires_grad();
    return Measure::apply(beliefs.to(torch::kCPU, torch::kFloat64).contiguous(), outputs.to(torch::kCPU).contiguous(),
                          this, measure, differentiable)
        .to(beliefs.device());
  }

  double measure_log_prob(const Row& row, double* gradient) const {
    if (row.wants != Wants::kModel) return measure_others(row, gradient);
    const auto total = row.formula.circuit.log_count(row.weights);
    if (gradient == nullptr || total == kNever) return total;  // no direction leads out
    const auto weights = without_zeros(row, total);
    Circuit::Weights derivative;
    row.formula.circuit.log_count(weights, derivative);
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      // In logarithms, for both may be far from one.
      gradient[variable * row.belief.width + value] = std::exp(std::log(derivative[place]) - weights[place]);
    });
    return total;
  }

  // Of all worlds, or of those that violate the constraint: what models leave of all worlds. All worlds do not add up
  // to one, but nearly, where beliefs come as 32-bit numbers; violations may be rarer than what is missing.
  double measure_others(const Row& row, double* gradient) const {
    std::vector<double> log_sums;  // of each variable's beliefs
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      double sum = 0;
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) sum += row.belief(variable, value);
      log_sums.push_back(std::log(sum));
    }
    const auto all = std::accumulate(log_sums.begin(), log_sums.end(), 0.0);
    if (all == kNever) return kNever;
    const auto& circuit = row.formula.circuit;
    const bool violates = row.wants == Wants::kViolation;
    const auto models = violates ? circuit.log_count(row.weights) : kNever;
    const auto result = all + log_of_rest(models - all);
    if (gradient == nullptr || result == kNever) return result;
    const auto weights = without_zeros(row, models == kNever ? 0 : models);
    Circuit::Weights derivative;
    const auto nearly_models = circuit.log_count(weights, derivative);
    for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
      // Worlds with this value, as far as the other variables weigh them, and the models among them.
      const auto with_value = all - log_sums[static_cast<std::size_t>(variable)];
      const auto models_with_value = violates ? std::log(derivative[place]) - weights[place] + nearly_models : kNever;
      // Rounding may leave more models than worlds: none of them violates.
      const auto share = -std::expm1(std::min(0.0, models_with_value - with_value));
      gradient[variable * row.belief.width + value] = share * std::exp(with_value - result);
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
      const auto weight = row.weights[place];
      gradient[variable * row.belief.width + value] = weight == kNever ? 0 : derivative[place] * std::exp(-weight);
    });
    return result;
  }

  // A weight of zero is taken as nearly zero beside `total`, so that P = 0 has its derivative too.
  Circuit::Weights without_zeros(const Row& row, double total) const {
    auto weights = row.weights;
    const auto floor = std::min(0.0, total) + kNearlyNever;
    for_each_literal(
        [&](std::int64_t, std::int64_t, std::size_t place) { weights[place] = std::max(weights[place], floor); });
    return weights;
  }

  // Calls visit(variable, value, place) with the place of the literal of each value of each world variable.
  template <typename Visit>
  void for_each_literal(Visit visit) const {
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        visit(variable, value, static_cast<std::size_t>(std::int64_t{encoding_.world(variable, value)} + variables_));
      }
    }
  }

  template <typename Visit>
  void for_each_row(const torch::Tensor& beliefs, const torch::Tensor& outputs, Visit visit) const {
    const auto given = beliefs.detach().to(torch::kCPU, torch::kFloat64).contiguous();
    const auto wanted = outputs.to(torch::kCPU).contiguous();
    const auto width = given.size(2), variables = given.size(1);
    parallel_for(given.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      Circuit::Weights weights;
      for (auto index = begin; index < end; ++index) {
        const Values output(wanted.const_data_ptr<std::int64_t>() + index * wanted.size(1),
                            static_cast<std::size_t>(wanted.size(1)));
        const BelievedValues belief{given.const_data_ptr<double>() + index * variables * width, width};
        weights.assign(2 * static_cast<std::size_t>(variables_) + 1, 0.0);
        for_each_literal([&](std::int64_t variable, std::int64_t value, std::size_t place) {
          weights[place] = std::log(belief(variable, value));
        });
        auto wants = Wants::kModel;
        if (encoding_.is_constraint()) {
          wants = output[0] == 1 ? Wants::kModel : output[0] == kUnset ? Wants::kAnything : Wants::kViolation;
        }
        for (std::size_t variable = 0; variable < encoding_.outputs.size(); ++variable) {
          if (output[variable] == kUnset) continue;
          const auto& literals = encoding_.outputs[variable];
          for (std::size_t value = 0; value < literals.size(); ++value) {
            if (static_cast<std::int64_t>(value) == output[variable]) continue;
            weights[static_cast<std::size_t>(std::int64_t{literals[value]} + variables_)] = kNever;
          }
        }
        visit(Row{index, belief, wants, formula_for(output), weights});
      }
    });
  }

  double best_of_all(const BelievedValues& belief, std::int64_t* world) const {
    double log_prob = 0;
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 1; value < worlds_.domain(variable); ++value) {
        if (belief(variable, value) > belief(variable, world[variable])) world[variable] = value;
      }
      log_prob += std::log(belief(variable, world[variable]));
    }
    return log_prob;
  }

  template <typename Draw>
  void draw_world(const BelievedValues& belief, std::int64_t* world, Draw draw) const {
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      auto left = draw();
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        const auto share = belief(variable, value);
        if (share == 0) continue;
        world[variable] = value;
        left -= share;
        if (left < 0) break;
      }
    }
  }

  Space worlds_;

 protected:
  Space outputs_;
  Encoding encoding_;
  int variables_ = 0;  // of the formula; set by classes that derive from this
};

// One circuit of the whole formula, for all outputs.
class WholeCircuit final : public CircuitInference {
 public:
  WholeCircuit(const Problem& problem, std::shared_ptr<const CompiledFormula> formula)
      : CircuitInference(problem, formula->encoding), formula_(std::move(formula)) {
    variables_ = formula_->circuit.variables();
  }

  const CompiledFormula& formula_for(Values) const override { return *formula_; }

 private:
  std::shared_ptr<const CompiledFormula> formula_;
};

// A circuit of what the formula says once the output is known, for each output that was asked about.
class ConditionedCircuits final : public CircuitInference {
 public:
  ConditionedCircuits(const Problem& problem, const Cnf& cnf, double seconds)
      : CircuitInference(problem, cnf.encoding()), clauses_(cnf.clauses()), seconds_(seconds) {
    variables_ = cnf.variables();
  }

  const CompiledFormula& formula_for(Values output) const override {
    const std::scoped_lock lock(mutex_);
    const std::vector<std::int64_t> key(output.begin(), output.end());
    if (const auto failed = failures_.find(key); failed != failures_.end()) throw Error(failed->second);
    if (const auto found = formulas_.find(key); found != formulas_.end()) return *found->second;
    if (formulas_.size() >= kMostOutputs) {
      throw Error(fmt::format(
          "circuits for each output: more than {} outputs were asked about; compile one circuit for all of them",
          kMostOutputs));
    }
    try {
      auto formula = std::make_unique<CompiledFormula>(CompiledFormula{compile(output), encoding_});
      return *formulas_.emplace(key, std::move(formula)).first->second;
    } catch (const Error& error) {
      failures_.emplace(key, error.what());
      throw;
    }
  }

 private:
  static constexpr std::size_t kMostOutputs = 1000;

  // Clauses that the output makes true go, and so do literals that it makes false; outputs are in none that is left.
  Circuit compile(Values output) const {
    std::vector<bool> is_true(2 * static_cast<std::size_t>(variables_) + 1, false);
    const auto place = [&](int literal) { return static_cast<std::size_t>(std::int64_t{literal} + variables_); };
    for (std::size_t variable = 0; variable < encoding_.outputs.size(); ++variable) {
      if (output[variable] == kUnset) continue;
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
  mutable std::map<std::vector<std::int64_t>, std::unique_ptr<CompiledFormula>> formulas_;
  mutable std::map<std::vector<std::int64_t>, std::string> failures_;  // why an output's did not compile
};

}  // namespace

std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds) {
  return std::make_unique<WholeCircuit>(problem, compiled_formula(problem, seconds));
}

std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds) {
  return std::make_unique<ConditionedCircuits>(problem, formula_of(problem), seconds);
}

}  // namespace anesi

#include "anesi/exact/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <random>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
// The logarithm that stands for a weight of zero while derivatives are taken: small enough to change nothing, large
// enough that what it is divided by again does not vanish.
constexpr double kNearlyImpossible = -600;

double log_sum(const double* values, std::int64_t size) {
  const double largest = *std::max_element(values, values + size);
  if (largest == kImpossible) return kImpossible;
  double sum = 0;
  for (std::int64_t index = 0; index < size; ++index) sum += std::exp(values[index] - largest);
  return largest + std::log(sum);
}

// Of a literal in an array from -variables to variables.
std::size_t place_of(int literal, int variables) { return static_cast<std::size_t>(std::int64_t{literal} + variables); }

}  // namespace

double Circuit::weigh(const Weights& weights, std::vector<double>& values, bool best) const {
  if (nodes_.empty()) return kImpossible;
  values.resize(nodes_.size());
  std::vector<double> terms;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) {
      values[index] = weights[place_of(node.literal, variables_)];
    } else if (node.kind == Kind::kProduct) {
      double sum = 0;
      for (auto part = node.begin; part < node.end; ++part) {
        sum += values[static_cast<std::size_t>(parts_[static_cast<std::size_t>(part)])];
      }
      values[index] = sum;
    } else {
      terms.clear();
      for (auto part = node.begin; part < node.end; ++part) {
        terms.push_back(values[static_cast<std::size_t>(parts_[static_cast<std::size_t>(part)])]);
      }
      values[index] =
          best ? *std::ranges::max_element(terms) : log_sum(terms.data(), static_cast<std::int64_t>(terms.size()));
    }
  }
  return values.back();
}

double Circuit::models() const {
  if (nodes_.empty()) return 0;
  std::vector<double> counts(nodes_.size());
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    const bool sums = node.kind == Kind::kSum;
    counts[index] = sums ? 0 : 1;
    for (auto part = node.begin; part < node.end; ++part) {
      const auto count = counts[static_cast<std::size_t>(parts_[static_cast<std::size_t>(part)])];
      counts[index] = sums ? counts[index] + count : counts[index] * count;
    }
  }
  return counts.back();
}

double Circuit::log_count(const Weights& weights) const {
  std::vector<double> values;
  return weigh(weights, values, /*best=*/false);
}

double Circuit::log_count(const Weights& weights, Weights& derivative) const {
  derivative.assign(weights.size(), 0);
  std::vector<double> values;
  const auto total = weigh(weights, values, /*best=*/false);
  if (total == kImpossible) return total;
  std::vector<double> flow(nodes_.size(), 0);
  flow.back() = 1;
  for (auto index = nodes_.size(); index-- > 0;) {
    const auto& node = nodes_[index];
    if (flow[index] == 0) continue;
    if (node.kind == Kind::kLiteral) {
      derivative[place_of(node.literal, variables_)] += flow[index];
      continue;
    }
    for (auto place = node.begin; place < node.end; ++place) {
      const auto part = static_cast<std::size_t>(parts_[static_cast<std::size_t>(place)]);
      flow[part] += node.kind == Kind::kProduct ? flow[index] : flow[index] * std::exp(values[part] - values[index]);
    }
  }
  return total;
}

template <typename Choose>
void Circuit::descend(std::vector<bool>& model, Choose choose) const {
  model.assign(static_cast<std::size_t>(variables_) + 1, false);
  std::vector<std::int32_t> open{static_cast<std::int32_t>(nodes_.size()) - 1};
  while (!open.empty()) {
    const auto& node = nodes_[static_cast<std::size_t>(open.back())];
    open.pop_back();
    if (node.kind == Kind::kLiteral) {
      model[static_cast<std::size_t>(std::abs(node.literal))] = node.literal > 0;
    } else if (node.kind == Kind::kProduct) {
      open.insert(open.end(), parts_.begin() + node.begin, parts_.begin() + node.end);
    } else {
      open.push_back(parts_[static_cast<std::size_t>(choose(node))]);
    }
  }
}

double Circuit::best_model(const Weights& weights, std::vector<bool>& model) const {
  std::vector<double> values;
  const auto best = weigh(weights, values, /*best=*/true);
  model.assign(static_cast<std::size_t>(variables_) + 1, false);
  if (best == kImpossible) return best;
  descend(model, [&](const Node& node) {
    const auto value = [&](std::int32_t place) {
      return values[static_cast<std::size_t>(parts_[static_cast<std::size_t>(place)])];
    };
    auto chosen = node.begin;
    for (auto place = node.begin; place < node.end; ++place) {
      if (value(place) > value(chosen)) chosen = place;
    }
    return chosen;
  });
  return best;
}

void Circuit::sample_model(const Weights& weights, std::vector<bool>& model,
                           const std::function<double()>& uniform) const {
  std::vector<double> values;
  if (weigh(weights, values, /*best=*/false) == kImpossible) {
    throw Error("no world of positive probability gives the output");
  }
  descend(model, [&](const Node& node) {
    std::vector<double> terms;
    for (auto place = node.begin; place < node.end; ++place) {
      terms.push_back(values[static_cast<std::size_t>(parts_[static_cast<std::size_t>(place)])]);
    }
    const auto total = log_sum(terms.data(), static_cast<std::int64_t>(terms.size()));
    double left = uniform();
    auto chosen = node.begin;
    for (auto place = node.begin; place < node.end; ++place) {
      const auto share = std::exp(terms[static_cast<std::size_t>(place - node.begin)] - total);
      if (share == 0) continue;
      chosen = place;
      left -= share;
      if (left < 0) break;
    }
    return chosen;
  });
}

namespace {

class CircuitInference : public ExactInference {
 public:
  CircuitInference(const Problem& problem, Cnf cnf, double seconds)
      : worlds_(problem.worlds()), outputs_(problem.outputs()), cnf_(std::move(cnf)), seconds_(seconds) {}

  // The circuit that answers for an output. Called from several threads at once.
  virtual const Circuit& circuit_for(Values output) const = 0;

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    const bool differentiable = torch::GradMode::is_enabled() && beliefs.requires_grad();
    return Count::apply(beliefs.to(torch::kCPU, torch::kFloat64).contiguous(), outputs.to(torch::kCPU).contiguous(),
                        this, differentiable)
        .to(beliefs.device());
  }

  const Space& outputs() const { return outputs_; }

  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    auto log_probs = torch::empty({beliefs.size(0)}, torch::kFloat64);
    auto worlds = torch::zeros({beliefs.size(0), worlds_.variables()}, torch::kInt64);
    for_each_row(beliefs, outputs, [&](std::int64_t row, const Circuit& circuit, const Circuit::Weights& weights) {
      std::vector<bool> model;
      log_probs.mutable_data_ptr<double>()[row] = circuit.best_model(weights, model);
      write_world(model, worlds.mutable_data_ptr<std::int64_t>() + row * worlds_.variables());
    });
    return {worlds, log_probs};
  }

  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                       at::Generator generator) const override {
    auto worlds = torch::zeros({beliefs.size(0), worlds_.variables()}, torch::kInt64);
    // A generator of its own for each row, so that draws do not depend on which thread comes first.
    const auto seeds = torch::randint(std::int64_t{1} << 62, {beliefs.size(0)}, std::move(generator), torch::kInt64);
    const auto* const seed = seeds.const_data_ptr<std::int64_t>();
    for_each_row(beliefs, outputs, [&](std::int64_t row, const Circuit& circuit, const Circuit::Weights& weights) {
      std::mt19937_64 engine(static_cast<std::uint64_t>(seed[row]));
      std::uniform_real_distribution<double> uniform(0, 1);
      std::vector<bool> model;
      circuit.sample_model(weights, model, [&] { return uniform(engine); });
      write_world(model, worlds.mutable_data_ptr<std::int64_t>() + row * worlds_.variables());
    });
    return worlds;
  }

 private:
  // The derivative is found on the way forward, since both take the same pass.
  class Count : public torch::autograd::Function<Count> {
   public:
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& beliefs,
                                 const torch::Tensor& outputs, const CircuitInference* self, bool differentiable) {
      auto result = torch::empty({beliefs.size(0)}, torch::kFloat64);
      auto gradient = differentiable ? torch::zeros_like(beliefs) : torch::Tensor();
      self->for_each_row(beliefs, outputs,
                         [&](std::int64_t row, const Circuit& circuit, const Circuit::Weights& weights) {
                           const auto total = circuit.log_count(weights);
                           result.mutable_data_ptr<double>()[row] = total;
                           if (gradient.defined()) self->differentiate(row, total, beliefs, circuit, weights, gradient);
                         });
      if (gradient.defined()) context->save_for_backward({gradient});
      return result;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& upstream) {
      const auto gradient = context->get_saved_variables()[0];
      return {gradient * upstream[0].view({-1, 1, 1}), torch::Tensor(), torch::Tensor(), torch::Tensor()};
    }
  };

  // d log p(y|P) / d P, with a weight of zero taken as nearly zero beside `total`, so that P = 0 has its derivative
  // too.
  void differentiate(std::int64_t row, double total, const torch::Tensor& beliefs, const Circuit& circuit,
                     Circuit::Weights weights, torch::Tensor& gradient) const {
    if (total == kImpossible) return;  // no direction leads out
    const auto width = beliefs.size(2);
    const auto literal_of = [&](std::int64_t variable, std::int64_t value) {
      return place_of(cnf_.world(variable, value), cnf_.variables());
    };
    const auto floor = std::min(0.0, total) + kNearlyImpossible;
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        auto& weight = weights[literal_of(variable, value)];
        weight = std::max(weight, floor);
      }
    }
    Circuit::Weights derivative;
    circuit.log_count(weights, derivative);
    auto* const out = gradient.mutable_data_ptr<double>() + row * beliefs.size(1) * width;
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        const auto literal = literal_of(variable, value);
        // In logarithms, for both may be far from one.
        out[variable * width + value] = std::exp(std::log(derivative[literal]) - weights[literal]);
      }
    }
  }

  // Calls visit(row, circuit, weights) with the weights of every literal: beliefs for worlds, one or zero for outputs.
  template <typename Visit>
  void for_each_row(const torch::Tensor& beliefs, const torch::Tensor& outputs, Visit visit) const {
    const auto given = beliefs.detach().to(torch::kCPU, torch::kFloat64).contiguous();
    const auto wanted = outputs.to(torch::kCPU).contiguous();
    const auto width = given.size(2), variables = given.size(1);
    parallel_for(given.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      Circuit::Weights weights;
      for (auto row = begin; row < end; ++row) {
        weights.assign(2 * static_cast<std::size_t>(cnf_.variables()) + 1, 0.0);
        const auto weight = [&](int literal) -> double& { return weights[place_of(literal, cnf_.variables())]; };
        const auto* const belief = given.const_data_ptr<double>() + row * variables * width;
        for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
          for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
            weight(cnf_.world(variable, value)) = std::log(belief[variable * width + value]);
          }
        }
        const auto* const output = wanted.const_data_ptr<std::int64_t>() + row * wanted.size(1);
        for (std::int64_t variable = 0; variable < outputs_.variables(); ++variable) {
          if (output[variable] == kUnset) continue;
          for (std::int64_t value = 0; value < outputs_.domain(variable); ++value) {
            if (value != output[variable]) weight(cnf_.output(variable, value)) = kImpossible;
          }
        }
        visit(row, circuit_for(Values(output, static_cast<std::size_t>(wanted.size(1)))), weights);
      }
    });
  }

  void write_world(const std::vector<bool>& model, std::int64_t* world) const {
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      for (std::int64_t value = 0; value < worlds_.domain(variable); ++value) {
        const auto literal = cnf_.world(variable, value);
        if (model[static_cast<std::size_t>(std::abs(literal))] == (literal > 0)) world[variable] = value;
      }
    }
  }

  Space worlds_, outputs_;

 protected:
  Cnf cnf_;
  double seconds_;
};

// One circuit of the whole formula, for all outputs.
class WholeCircuit final : public CircuitInference {
 public:
  WholeCircuit(const Problem& problem, Cnf cnf, double seconds)
      : CircuitInference(problem, std::move(cnf), seconds),
        circuit_(Circuit::compile(cnf_.variables(), cnf_.clauses(), seconds)) {}

  const Circuit& circuit_for(Values) const override { return circuit_; }

 private:
  Circuit circuit_;
};

// A circuit of what the formula says once the output is known, for each output that was asked about.
class ConditionedCircuits final : public CircuitInference {
 public:
  using CircuitInference::CircuitInference;

  const Circuit& circuit_for(Values output) const override {
    const std::scoped_lock lock(mutex_);
    const std::vector<std::int64_t> key(output.begin(), output.end());
    if (const auto failed = failures_.find(key); failed != failures_.end()) throw Error(failed->second);
    if (const auto found = circuits_.find(key); found != circuits_.end()) return *found->second;
    if (circuits_.size() >= kMostOutputs) {
      throw Error(fmt::format(
          "circuits for each output: more than {} outputs were asked about; compile one circuit for all of them",
          kMostOutputs));
    }
    try {
      return *circuits_.emplace(key, std::make_unique<Circuit>(compile(output))).first->second;
    } catch (const Error& error) {
      failures_.emplace(key, error.what());
      throw;
    }
  }

 private:
  static constexpr std::size_t kMostOutputs = 1000;

  // Clauses that the output makes true go, and so do literals that it makes false; outputs are in none that is left.
  Circuit compile(Values output) const {
    std::vector<bool> is_true(2 * static_cast<std::size_t>(cnf_.variables()) + 1, false);
    const auto place = [&](int literal) { return place_of(literal, cnf_.variables()); };
    for (std::size_t variable = 0; variable < output.size(); ++variable) {
      if (output[variable] == kUnset) continue;
      const auto index = static_cast<std::int64_t>(variable);
      for (std::int64_t value = 0; value < outputs().domain(index); ++value) {
        const auto literal = cnf_.output(index, value);
        is_true[place(value == output[variable] ? literal : -literal)] = true;
      }
    }
    std::vector<std::vector<int>> clauses;
    for (const auto& clause : cnf_.clauses()) {
      if (std::any_of(clause.begin(), clause.end(), [&](int literal) { return is_true[place(literal)]; })) continue;
      auto& rest = clauses.emplace_back();
      for (const auto literal : clause) {
        if (!is_true[place(-literal)]) rest.push_back(literal);
      }
    }
    return Circuit::compile(cnf_.variables(), clauses, seconds_);
  }

  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::int64_t>, std::unique_ptr<Circuit>> circuits_;
  mutable std::map<std::vector<std::int64_t>, std::string> failures_;  // why an output's did not compile
};

const Cnf& formula_of(const Problem& problem) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) throw Error("circuit: the problem gives no formula (a fact of type Cnf)");
  return *cnf;
}

}  // namespace

std::unique_ptr<ExactInference> make_circuit_inference(const Problem& problem, double seconds) {
  return std::make_unique<WholeCircuit>(problem, formula_of(problem), seconds);
}

std::unique_ptr<ExactInference> make_conditioned_circuits(const Problem& problem, double seconds) {
  return std::make_unique<ConditionedCircuits>(problem, formula_of(problem), seconds);
}

}  // namespace anesi

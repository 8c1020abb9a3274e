#include "anesi/tensors/soft_circuit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// The hard clauses, and for each soft one a variable that is true where it holds.
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

Circuit compiled_with(const Cnf& cnf, double seconds) {
  return Circuit::compile(cnf.variables(), cnf.clauses(), seconds);
}

}  // namespace

SoftCircuit::SoftCircuit(const Cnf& hard, const std::vector<SoftClause>& soft, double seconds)
    : encoding_(hard.encoding()), circuit_(compiled_with(with_a_variable_for_each(hard, soft, soft_), seconds)) {}

template <typename Visit>
void SoftCircuit::for_each_value(Visit visit) const {
  for (std::size_t variable = 0; variable < encoding_.worlds.size(); ++variable) {
    const auto& literals = encoding_.worlds[variable];
    for (std::size_t value = 0; value < literals.size(); ++value) {
      visit(static_cast<std::int64_t>(variable), static_cast<std::int64_t>(value), circuit_.place_of(literals[value]));
    }
  }
}

SoftCircuit::Asked SoftCircuit::asked(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const auto& logs = beliefs.logs;
  TORCH_CHECK(logs.dim() == 3 && logs.size(1) == static_cast<std::int64_t>(encoding_.worlds.size()),
              "soft circuit: beliefs of another number of variables");
  TORCH_CHECK(weights.size(-1) == clauses(), "soft circuit: ", weights.size(-1), " weights for ", clauses(),
              " soft clauses");
  const auto in_double = [](const torch::Tensor& values) { return values.to(torch::kCPU, torch::kFloat64); };
  return {in_double(logs).contiguous(), in_double(weights).expand({logs.size(0), clauses()}).contiguous()};
}

template <typename Visit>
void SoftCircuit::for_each_row(const Asked& asked, Visit visit) const {
  const auto variables = asked.logs.size(1), width = asked.logs.size(2);
  const auto* const believed = asked.logs.const_data_ptr<double>();
  const auto* const weights = asked.weights.const_data_ptr<double>();
  parallel_for(asked.logs.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      Circuit::Weights logs(circuit_.places(), 0.0);
      for_each_value([&](std::int64_t variable, std::int64_t value, std::size_t place) {
        logs[place] = believed[(row * variables + variable) * width + value];
      });
      for (std::size_t clause = 0; clause < soft_.size(); ++clause) {
        logs[circuit_.place_of(soft_[clause])] = weights[as_size(row * clauses()) + clause];
      }
      visit(row, logs);
    }
  });
}

torch::Tensor SoftCircuit::measure(const Asked& asked, torch::Tensor by_beliefs, torch::Tensor by_weights) const {
  auto result = torch::empty({asked.logs.size(0)}, torch::kFloat64);
  const auto variables = asked.logs.size(1), width = asked.logs.size(2);
  for_each_row(asked, [&](std::int64_t row, Circuit::Weights& logs) {
    const auto total = circuit_.log_count(logs);
    result.mutable_data_ptr<double>()[row] = total;
    if (std::isinf(total) || !(by_beliefs.defined() || by_weights.defined())) return;
    Circuit::Weights derivative;
    circuit_.log_count(logs, derivative);
    if (by_beliefs.defined()) {
      auto* const out = by_beliefs.mutable_data_ptr<double>() + row * variables * width;
      for_each_value([&](std::int64_t variable, std::int64_t value, std::size_t place) {
        out[variable * width + value] = derivative[place];
      });
    }
    if (!by_weights.defined()) return;
    auto* const out = by_weights.mutable_data_ptr<double>() + row * clauses();
    for (std::size_t clause = 0; clause < soft_.size(); ++clause) {
      out[clause] = derivative[circuit_.place_of(soft_[clause])];
    }
  });
  return result;
}

// The derivatives are found on the way forward, since both take the same pass.
class SoftCircuit::LogPartition : public torch::autograd::Function<LogPartition> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& beliefs,
                               const torch::Tensor& weights, const SoftCircuit* self, bool of_beliefs,
                               bool of_weights) {
    const auto by_beliefs = of_beliefs ? torch::zeros_like(beliefs) : torch::Tensor();
    const auto by_weights = of_weights ? torch::zeros_like(weights) : torch::Tensor();
    auto result = self->measure({beliefs, weights}, by_beliefs, by_weights);
    context->save_for_backward({by_beliefs, by_weights, beliefs, weights});
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto times = [&](const torch::Tensor& derivative, at::IntArrayRef shape, const torch::Tensor& input) {
      if (!derivative.defined()) return torch::Tensor();
      return differentiable_no_further(derivative * upstream[0].detach().view(shape), input, upstream[0]);
    };
    return {times(saved[0], {-1, 1, 1}, saved[2]), times(saved[1], {-1, 1}, saved[3]), torch::Tensor(), torch::Tensor(),
            torch::Tensor()};
  }
};

torch::Tensor SoftCircuit::log_partition(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const bool differentiable = torch::GradMode::is_enabled();
  const auto [all_logs, all_weights] = asked(beliefs, weights);
  return LogPartition::apply(all_logs, all_weights, this, differentiable && all_logs.requires_grad(),
                             differentiable && all_weights.requires_grad());
}

torch::Tensor SoftCircuit::log_partition(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return through_logs(beliefs, space_of(encoding_.worlds),
                      [&](const LogBeliefs& logs) { return log_partition(logs, weights); });
}
torch::Tensor SoftCircuit::expected(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return expected(LogBeliefs::of(beliefs), weights);
}
torch::Tensor SoftCircuit::marginals(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return marginals(LogBeliefs::of(beliefs), weights);
}
MostProbable SoftCircuit::most_probable(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return most_probable(LogBeliefs::of(beliefs), weights);
}
torch::Tensor SoftCircuit::sample(const torch::Tensor& beliefs, const torch::Tensor& weights,
                                  at::Generator generator) const {
  return sample(LogBeliefs::of(beliefs), weights, std::move(generator));
}

torch::Tensor SoftCircuit::expected(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const auto question = asked(LogBeliefs(beliefs.logs.detach()), weights.detach());
  auto expected = torch::zeros_like(question.weights);
  measure(question, {}, expected);
  return expected;
}

torch::Tensor SoftCircuit::marginals(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const auto question = asked(LogBeliefs(beliefs.logs.detach()), weights.detach());
  auto slopes = torch::zeros_like(question.logs);
  measure(question, slopes, {});
  return slopes;
}

torch::Tensor SoftCircuit::covariance(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  const auto question = asked(LogBeliefs::of(beliefs), weights.detach());
  auto both = torch::zeros({beliefs.size(0), clauses(), clauses()}, torch::kFloat64);  // how likely two of them hold
  auto each = torch::zeros_like(question.weights);
  for_each_row(question, [&](std::int64_t row, Circuit::Weights& logs) {
    Circuit::Weights derivative;
    const auto probability = [&](std::size_t clause) { return derivative[circuit_.place_of(soft_[clause])]; };
    if (std::isinf(circuit_.log_count(logs, derivative))) return;
    auto* const of_each = each.mutable_data_ptr<double>() + row * clauses();
    for (std::size_t clause = 0; clause < soft_.size(); ++clause) of_each[clause] = probability(clause);
    for (std::size_t first = 0; first < soft_.size(); ++first) {
      auto& log_of_not_first = logs[circuit_.place_of(-soft_[first])];
      log_of_not_first = -std::numeric_limits<double>::infinity();
      const bool possible = of_each[first] > 0 && !std::isinf(circuit_.log_count(logs, derivative));
      auto* const out =
          both.mutable_data_ptr<double>() + (row * clauses() + static_cast<std::int64_t>(first)) * clauses();
      for (std::size_t second = 0; possible && second < soft_.size(); ++second) {
        out[second] = of_each[first] * probability(second);
      }
      log_of_not_first = 0;
    }
  });
  return both - each.unsqueeze(2) * each.unsqueeze(1);
}

MostProbable SoftCircuit::most_probable(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const auto question = asked(LogBeliefs(beliefs.logs.detach()), weights.detach());
  auto worlds = torch::zeros({beliefs.size(), beliefs.logs.size(1)}, torch::kInt64);
  auto log_probs = torch::empty({beliefs.size()}, torch::kFloat64);
  for_each_row(question, [&](std::int64_t row, const Circuit::Weights& logs) {
    std::vector<bool> model;
    const auto best = circuit_.best_model(logs, model);
    log_probs.mutable_data_ptr<double>()[row] = std::isinf(best) ? best : best - circuit_.log_count(logs);
    read_values(encoding_.worlds, model, worlds.mutable_data_ptr<std::int64_t>() + row * worlds.size(1));
  });
  return {worlds, log_probs};
}

torch::Tensor SoftCircuit::sample(const LogBeliefs& beliefs, const torch::Tensor& weights,
                                  at::Generator generator) const {
  const auto question = asked(LogBeliefs(beliefs.logs.detach()), weights.detach());
  auto worlds = torch::zeros({beliefs.size(), beliefs.logs.size(1)}, torch::kInt64);
  // A generator of its own for each row, so that draws do not depend on which thread comes first.
  const auto seeds = torch::randint(std::int64_t{1} << 62, {beliefs.size()}, std::move(generator), torch::kInt64);
  for_each_row(question, [&](std::int64_t row, const Circuit::Weights& logs) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(seeds.const_data_ptr<std::int64_t>()[row]));
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<bool> model;
    circuit_.sample_model(logs, model, [&] { return uniform(engine); });
    read_values(encoding_.worlds, model, worlds.mutable_data_ptr<std::int64_t>() + row * worlds.size(1));
  });
  return worlds;
}

}  // namespace anesi

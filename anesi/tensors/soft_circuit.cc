#include "anesi/tensors/soft_circuit.h"

#include <algorithm>

namespace anesi {
namespace {

// Logarithms of beliefs, and weights, as the circuit takes them: in 64 bits and without gradients.
struct Asked {
  Asked(const LogBeliefs& beliefs, const torch::Tensor& of_clauses)
      : logs(beliefs.logs.detach().to(torch::kCPU, torch::kFloat64).contiguous()),
        weights(of_clauses.detach().to(torch::kCPU, torch::kFloat64).contiguous()) {}

  std::int64_t size() const { return logs.size(0); }
  SoftCircuit::Query query() const {
    const auto row_size = logs.size(1) * logs.size(2), clauses = weights.size(-1);
    const auto rows = weights.dim() == 1 ? 1 : weights.size(0);
    return {{logs.const_data_ptr<double>(), size(), row_size}, {weights.const_data_ptr<double>(), rows, clauses}};
  }

  torch::Tensor logs, weights;
};

// One row for each of the first dimension.
Rows<double> number_rows(torch::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr<double>(), tensor.size(0),
          tensor.numel() / std::max<std::int64_t>(1, tensor.size(0))};
}
std::span<double> numbers_of(torch::Tensor& tensor) {
  return {tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}
MutablePointRows world_rows(torch::Tensor& worlds) {
  return {worlds.mutable_data_ptr<std::int64_t>(), worlds.size(0), worlds.size(1)};
}

// log Z of each row, and its derivatives by what is defined.
torch::Tensor measure(const SoftCircuit& circuit, const Asked& asked, torch::Tensor by_beliefs,
                      torch::Tensor by_weights) {
  auto result = torch::empty({asked.size()}, torch::kFloat64);
  circuit.log_partition(asked.query(), numbers_of(result), number_rows(by_beliefs), number_rows(by_weights));
  return result;
}

torch::Tensor of_each_clause(const SoftCircuit& circuit, const Asked& asked) {
  return torch::zeros({asked.size(), circuit.clauses()}, torch::kFloat64);
}

}  // namespace

// The derivatives are found on the way forward, since both take the same pass.
class SoftCircuitOfTensors::LogPartition : public torch::autograd::Function<LogPartition> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logs,
                               const torch::Tensor& weights, const SoftCircuit* circuit, bool of_beliefs,
                               bool of_weights) {
    const Asked asked(LogBeliefs(logs), weights);
    const auto by_beliefs = of_beliefs ? torch::zeros_like(asked.logs) : torch::Tensor();
    const auto by_weights = of_weights ? of_each_clause(*circuit, asked) : torch::Tensor();
    auto result = measure(*circuit, asked, by_beliefs, by_weights);
    context->save_for_backward({by_beliefs, by_weights, logs, weights});
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto times = [&](const torch::Tensor& derivative, at::IntArrayRef shape, const torch::Tensor& input) {
      if (!derivative.defined()) return torch::Tensor();
      const auto slope = (derivative * upstream[0].detach().view(shape)).sum_to_size(input.sizes()).to(input.options());
      return differentiable_no_further(slope, input, upstream[0]);
    };
    return {times(saved[0], {-1, 1, 1}, saved[2]), times(saved[1], {-1, 1}, saved[3]), torch::Tensor(), torch::Tensor(),
            torch::Tensor()};
  }
};

torch::Tensor SoftCircuitOfTensors::log_partition(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const bool differentiable = torch::GradMode::is_enabled();
  return LogPartition::apply(beliefs.logs, weights, &circuit_, differentiable && beliefs.logs.requires_grad(),
                             differentiable && weights.requires_grad());
}

torch::Tensor SoftCircuitOfTensors::log_partition(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return through_logs(beliefs, circuit_.worlds(), [&](const LogBeliefs& logs) { return log_partition(logs, weights); });
}
torch::Tensor SoftCircuitOfTensors::expected(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return expected(LogBeliefs::of(beliefs), weights);
}
torch::Tensor SoftCircuitOfTensors::marginals(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return marginals(LogBeliefs::of(beliefs), weights);
}
MostProbable SoftCircuitOfTensors::most_probable(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  return most_probable(LogBeliefs::of(beliefs), weights);
}
torch::Tensor SoftCircuitOfTensors::sample(const torch::Tensor& beliefs, const torch::Tensor& weights,
                                           at::Generator generator) const {
  return sample(LogBeliefs::of(beliefs), weights, std::move(generator));
}

torch::Tensor SoftCircuitOfTensors::expected(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const Asked asked(beliefs, weights);
  auto expected = of_each_clause(circuit_, asked);
  measure(circuit_, asked, {}, expected);
  return expected;
}

torch::Tensor SoftCircuitOfTensors::marginals(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const Asked asked(beliefs, weights);
  auto marginals = torch::zeros_like(asked.logs);
  measure(circuit_, asked, marginals, {});
  return marginals;
}

torch::Tensor SoftCircuitOfTensors::covariance(const torch::Tensor& beliefs, const torch::Tensor& weights) const {
  const Asked asked(LogBeliefs::of(beliefs), weights);
  auto covariance = torch::zeros({asked.size(), clauses(), clauses()}, torch::kFloat64);
  circuit_.covariance(asked.query(), number_rows(covariance));
  return covariance;
}

MostProbable SoftCircuitOfTensors::most_probable(const LogBeliefs& beliefs, const torch::Tensor& weights) const {
  const Asked asked(beliefs, weights);
  auto worlds = torch::zeros({asked.size(), circuit_.worlds().variables()}, torch::kInt64);
  auto log_probs = torch::empty({asked.size()}, torch::kFloat64);
  circuit_.most_probable(asked.query(), world_rows(worlds), numbers_of(log_probs));
  return {worlds, log_probs};
}

torch::Tensor SoftCircuitOfTensors::sample(const LogBeliefs& beliefs, const torch::Tensor& weights,
                                           at::Generator generator) const {
  const Asked asked(beliefs, weights);
  auto worlds = torch::zeros({asked.size(), circuit_.worlds().variables()}, torch::kInt64);
  const auto seed = torch::randint(std::int64_t{1} << 62, {1}, std::move(generator), torch::kInt64);
  Random random(static_cast<std::uint64_t>(seed.item<std::int64_t>()));
  circuit_.sample(asked.query(), random, world_rows(worlds));
  return worlds;
}

}  // namespace anesi

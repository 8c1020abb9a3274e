#include "anesi/search/circuit_pruner.h"

#include <cmath>
#include <limits>

namespace anesi {
namespace {

class CircuitPruner final : public Pruner {
 public:
  explicit CircuitPruner(std::shared_ptr<const CompiledFormula> formula) : formula_(std::move(formula)) {}

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    const auto& [circuit, encoding] = *formula_;
    if (encoding.is_constraint()) {
      mask[1] = circuit.satisfiable();
      mask[0] = some_violate(Circuit::OfLiterals<char>(circuit.places(), 1), {});
      return;
    }
    auto may_be_true = decided(circuit, encoding.outputs, but_for(partial, variable));
    circuit.restrict_to_models(may_be_true);
    read(may_be_true, encoding.outputs[static_cast<std::size_t>(variable)], mask);
  }

  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    const auto& [circuit, encoding] = *formula_;
    const auto asked = but_for(partial, variable);
    const auto& literals = encoding.worlds[static_cast<std::size_t>(variable)];
    auto may_be_true = decided(circuit, encoding.worlds, asked);
    if (encoding.is_constraint() && output[0] != 1) {
      for (std::size_t value = 0; value < mask.size(); ++value) {
        auto with_value = may_be_true;
        decide(with_value, circuit, literals, static_cast<std::int64_t>(value));
        mask[value] = output[0] == kUnset || some_violate(with_value, asked, variable);
      }
      return;
    }
    for (std::size_t place = 0; place < encoding.outputs.size(); ++place) {
      if (output[place] != kUnset) decide(may_be_true, circuit, encoding.outputs[place], output[place]);
    }
    circuit.restrict_to_models(may_be_true);
    read(may_be_true, literals, mask);
  }

 private:
  static std::vector<std::int64_t> but_for(Values values, std::int64_t variable) {
    std::vector<std::int64_t> rest(values.begin(), values.end());
    rest[static_cast<std::size_t>(variable)] = kUnset;
    return rest;
  }

  void read(const Circuit::OfLiterals<char>& may_be_true, const std::vector<int>& literals, Mask mask) const {
    for (std::size_t value = 0; value < mask.size(); ++value) {
      mask[value] = may_be_true[formula_->circuit.place_of(literals[value])] != 0;
    }
  }

  // Whether fewer worlds satisfy the constraint than there are among those that agree with `partial` and whose
  // literals may be true. Nothing partial: all worlds.
  bool some_violate(const Circuit::OfLiterals<char>& may_be_true, const std::vector<std::int64_t>& partial,
                    std::int64_t decided_too = -1) const {
    const auto& [circuit, encoding] = *formula_;
    Circuit::Weights weights(circuit.places(), 0);
    for (std::size_t place = 0; place < weights.size(); ++place) {
      if (may_be_true[place] == 0) weights[place] = -std::numeric_limits<double>::infinity();
    }
    double log_worlds = 0;
    for (std::size_t variable = 0; variable < encoding.worlds.size(); ++variable) {
      const bool open =
          (partial.empty() || partial[variable] == kUnset) && static_cast<std::int64_t>(variable) != decided_too;
      if (open) log_worlds += std::log(static_cast<double>(encoding.worlds[variable].size()));
    }
    constexpr double kRounding = 1e-12;
    return circuit.log_count(weights) < log_worlds - kRounding;
  }

  std::shared_ptr<const CompiledFormula> formula_;
};

}  // namespace

std::unique_ptr<Pruner> make_circuit_pruner(std::shared_ptr<const CompiledFormula> formula) {
  return std::make_unique<CircuitPruner>(std::move(formula));
}

}  // namespace anesi

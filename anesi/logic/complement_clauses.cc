// What a circuit is not, as clauses: each node is a variable that its parts define.
#include <cstdlib>
#include <utility>

#include "anesi/logic/decision_compiler.h"

namespace anesi {

Circuit complement_by_decisions(const Circuit& circuit, const std::vector<int>& hidden,
                                const std::vector<std::vector<int>>& clauses, const CompilerLimits& limits) {
  const int variables = circuit.variables();
  std::vector<bool> is_hidden(static_cast<std::size_t>(variables) + 1, false);
  for (const auto variable : hidden) is_hidden[static_cast<std::size_t>(variable)] = true;
  // In a circuit whose products share no variable it is enough that some value of a hidden variable would do: then the
  // circuit says whether some assignment of all hidden ones does.
  constexpr int kTrue = 0;
  auto all = clauses;
  std::vector<int> literals;  // of each node
  int further = 0;
  for (std::int64_t node = 0; node < circuit.nodes(); ++node) {
    const auto kind = circuit.kind(node);
    if (kind == Circuit::Kind::kLiteral) {
      literals.push_back(is_hidden[static_cast<std::size_t>(std::abs(circuit.literal(node)))] ? kTrue
                                                                                              : circuit.literal(node));
      continue;
    }
    // A sum is a product of negations, negated.
    const auto sign = kind == Circuit::Kind::kProduct ? 1 : -1;
    std::vector<int> parts;
    bool is_true = false;
    for (const auto part : circuit.parts(node)) {
      const auto literal = literals[static_cast<std::size_t>(part)];
      if (literal != kTrue) parts.push_back(sign * literal);
      if (literal == kTrue && kind == Circuit::Kind::kSum) is_true = true;
    }
    if (is_true || parts.empty()) {
      literals.push_back(kTrue);
      continue;
    }
    if (parts.size() == 1) {
      literals.push_back(sign * parts[0]);
      continue;
    }
    const int product = variables + ++further;
    for (const auto part : parts) all.push_back({-product, part});
    for (auto& part : parts) part = -part;
    parts.push_back(product);
    all.push_back(std::move(parts));
    literals.push_back(sign * product);
  }
  if (circuit.satisfiable()) {
    all.emplace_back();
    if (literals.back() != kTrue) all.back().push_back(-literals.back());
  }
  return compile_by_decisions(variables, all, {}, limits, further);
}

}  // namespace anesi

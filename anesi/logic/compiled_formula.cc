#include "anesi/logic/compiled_formula.h"

#include <utility>

#include "anesi/core/error.h"

namespace anesi {

const Cnf& formula_of(const Problem& problem) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) throw Error("circuit: the problem gives no formula (a fact of type Cnf)");
  return *cnf;
}

std::shared_ptr<const CompiledFormula> compiled_formula(const Cnf& cnf, double seconds) {
  auto circuit = cnf.is_projected()
                     ? Circuit::compile_projected(cnf.variables(), cnf.clauses(), cnf.further_variables(), seconds)
                     : Circuit::compile(cnf.variables(), cnf.clauses(), seconds);
  return std::make_shared<CompiledFormula>(CompiledFormula{std::move(circuit), cnf.encoding()});
}

std::shared_ptr<const CompiledFormula> compiled_formula(const Problem& problem, double seconds) {
  auto compiled = problem.facts().share<CompiledFormula>();
  return compiled ? compiled : compiled_formula(formula_of(problem), seconds);
}

Circuit violations_of(const CompiledFormula& formula, double seconds) {
  const auto& [circuit, encoding] = formula;
  const auto of_worlds = encoding.of_worlds(circuit.variables());
  // Worlds have one value for each variable, whether or not they keep the constraint.
  Cnf rules(encoding, circuit.variables(), {});
  for (const auto& literals : encoding.worlds) {
    const bool shares_one = literals.size() == 2 && literals[0] == -literals[1];
    if (!shares_one) rules.exactly_one(literals);
  }
  std::vector<int> further;
  for (int variable = 1; variable <= circuit.variables(); ++variable) {
    if (of_worlds[static_cast<std::size_t>(variable)]) continue;
    further.push_back(variable);
    rules.add({-variable});
  }
  return circuit.complement(further, rules.clauses(), seconds);
}

void decide(Circuit::OfLiterals<char>& may_be_true, const Circuit& circuit, const std::vector<int>& literals,
            std::int64_t value) {
  for (std::size_t other = 0; other < literals.size(); ++other) {
    const bool chosen = static_cast<std::int64_t>(other) == value;
    may_be_true[circuit.place_of(chosen ? -literals[other] : literals[other])] = 0;
  }
}

Circuit::OfLiterals<char> decided(const Circuit& circuit, const Encoding::Literals& literals, Values values) {
  Circuit::OfLiterals<char> may_be_true(circuit.places(), 1);
  for (std::size_t variable = 0; variable < literals.size(); ++variable) {
    if (values[variable] != kUnset) decide(may_be_true, circuit, literals[variable], values[variable]);
  }
  return may_be_true;
}

bool satisfies(const CompiledFormula& formula, Values world) {
  auto may_be_true = decided(formula.circuit, formula.encoding.worlds, world);
  return formula.circuit.restrict_to_models(may_be_true);
}

}  // namespace anesi

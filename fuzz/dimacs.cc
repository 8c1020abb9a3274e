#include "anesi/logic/dimacs.h"

#include <cstdlib>

#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("dimacs", [](std::string_view input) {
  const auto formula = parse_dimacs(input, "rules.cnf");
  for (const auto& clause : formula.clauses) {
    for (const auto literal : clause) {
      expect(literal != 0 && std::abs(literal) <= formula.variables, "literals are of variables");
    }
  }
  const auto again = parse_dimacs(to_dimacs(formula), "rules.cnf");
  expect(again.clauses == formula.clauses && again.shown == formula.shown && again.variables == formula.variables,
         "what is written is read");
});

}  // namespace anesi::fuzz

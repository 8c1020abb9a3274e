#include "anesi/logic/wcnf.h"

#include <cmath>

#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("wcnf", [](std::string_view input) {
  const auto formula = parse_wcnf(input, "rules.wcnf");
  for (const auto& clause : formula.soft) {
    expect(std::isfinite(clause.weight) && !clause.literals.empty(), "soft clauses have a weight and literals");
  }
});

}  // namespace anesi::fuzz

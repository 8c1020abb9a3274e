// Facts that a saved model brings along: those that were found by asking c (discover/), not declared, and formulas.
#pragma once

#include <memory>
#include <string>

#include "anesi/core/array.h"
#include "anesi/core/problem.h"

namespace anesi {

// A fact: which of the problem's other facts were found.
struct FoundFacts {
  bool automaton = false, tables = false, reading = false;
  bool formula = false;  // which is told rather than found; set where it is to be saved
  std::string summary;   // in a line, for people
};

// Those facts as arrays, to be saved; empty where none was found.
NamedArrays found_facts_of(const Problem& problem);

// The problem with facts that were saved; as it is where there are none. Throws Error where they are damaged or of
// other spaces than the problem's.
std::shared_ptr<const Problem> with_found_facts(std::shared_ptr<const Problem> problem, const NamedArrays& saved,
                                                const std::string& summary);

}  // namespace anesi

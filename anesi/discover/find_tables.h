// Outputs that each are of a few world variables, found by asking.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "anesi/core/output_tables.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/discover/oracle.h"
#include "anesi/discover/worlds.h"

namespace anesi {

struct FoundTables {
  std::shared_ptr<const OutputTables> tables;  // null where some output is of too many variables
  std::string reason;                          // why there are none
};

// `influence` says which variables each output was seen to depend on; worlds that are drawn find those that were
// missed. Throws what the oracle throws.
FoundTables find_tables(Oracle& oracle, const Matrix<double>& influence, const DrawWorlds& draw, Random& random);

// The pairs of variables that outputs are of, where each is of two.
std::optional<VariablePairs> pairs_of(const OutputTables& tables);

}  // namespace anesi

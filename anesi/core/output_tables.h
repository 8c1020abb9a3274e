// Outputs that each are of a few world variables, with what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "anesi/core/rows.h"

namespace anesi {

struct OutputTable {
  std::vector<std::int64_t> variables;  // of the world
  std::vector<std::int32_t> values;     // of the output, for every combination of theirs, the last running fastest
};

// A fact: one table for each output variable. Buys the architecture `tables`.
struct OutputTables {
  std::vector<OutputTable> tables;
};

// The outputs of worlds that tables tell.
Points look_up(const OutputTables& tables, PointRows worlds, const Space& space);

}  // namespace anesi

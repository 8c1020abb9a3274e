// The one output that all labels are about, where there is such.
#pragma once

#include <cstdint>
#include <vector>

namespace anesi {

// A fact: labels only say whether this output holds (is this grid a sudoku? then all its pairs differ). What is asked
// of a prediction is then how likely this output is, and of an explanation which world gives it.
struct AskedOutput {
  std::vector<std::int64_t> output;
};

}  // namespace anesi

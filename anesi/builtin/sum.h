// The sum of a row of handwritten digits.
#pragma once

#include "anesi/builtin/builtin.h"

namespace anesi {

struct SumOptions {
  static constexpr const char* kName = "sum";
  static constexpr const char* kSummary = "add up a row of handwritten digits, from the sum alone";

  std::int64_t digits = 16;
  void describe(OptionTable& table) { table.add("digits", digits, {1, 5000}, "images in a row"); }
};

Builtin sum_of_digits(const SumOptions& options, const TaskContext& context);

}  // namespace anesi

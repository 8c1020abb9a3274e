// The parity of a row of handwritten digits.
#pragma once

#include "anesi/builtin/builtin.h"

namespace anesi {

struct ParityOptions {
  static constexpr const char* kName = "parity";
  static constexpr const char* kSummary = "is the sum of a row of handwritten digits odd?";

  std::int64_t digits = 2;
  void describe(OptionTable& table) { table.add("digits", digits, {1, 1000}, "images in a row"); }
};

Builtin parity(const ParityOptions& options, const TaskContext& context);

}  // namespace anesi

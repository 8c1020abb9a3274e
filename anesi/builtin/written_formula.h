// Handwritten formulas: digits and drawn operators + - x, labelled with their value.
#pragma once

#include "anesi/builtin/builtin.h"
#include "anesi/builtin/operators.h"

namespace anesi {

struct WrittenFormulaOptions {
  static constexpr const char* kName = "formula";
  static constexpr const char* kSummary =
      "the value of a handwritten formula of digits and + - x, from the value alone";

  std::int64_t symbols = 3;
  void describe(OptionTable& table) {
    table.add("symbols", symbols, {1, 9}, "digits and the operators between them; an odd number");
  }
};

Builtin written_formula(const WrittenFormulaOptions& options, const TaskContext& context);

// Values go from this to 9^n of n digits; outputs count from 0.
std::int64_t lowest_value(const WrittenFormulaOptions& options);

}  // namespace anesi

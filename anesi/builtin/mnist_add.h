// Two rows of N handwritten digits, labelled with the sum of the two numbers (section 4.1 of the paper).
#pragma once

#include <string>

#include "anesi/builtin/builtin.h"

namespace anesi {

struct MnistAddOptions {
  static constexpr const char* kName = "mnist-add";
  static constexpr const char* kSummary = "add two numbers of handwritten digits, from their sum alone";

  std::int64_t digits = 4;
  bool described = true;

  void describe(OptionTable& table) {
    table.add("digits", digits, {1, 5000}, "digits of each number (the paper's N)");
    table.add("described", described,
              "whether c tells of itself a reading order, an automaton, a formula and a pruner; where not, it must be "
              "asked");
  }
};

Builtin mnist_add(const MnistAddOptions& options, const TaskContext& context);

// "0407"; and without the leading zeros, but at least one digit.
std::string digits_of(Values values);
std::string number_of(Values values);

}  // namespace anesi

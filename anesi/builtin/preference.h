// How people rank four kinds of sushi, from how they rank six others: outputs that must be permutations.
#pragma once

#include <array>

#include "anesi/builtin/builtin.h"
#include "anesi/data/structured_splits.h"

namespace anesi {

inline constexpr std::array<int, 4> kAskedKinds{4, 6, 9, 10};       // kinds that are to be ranked
inline constexpr std::array<int, 6> kShownKinds{1, 2, 3, 5, 7, 8};  // kinds that the input ranks

struct PreferenceOptions {
  static constexpr const char* kName = "preference";
  static constexpr const char* kSummary =
      "how somebody ranks four kinds of sushi, under the constraint that it is a ranking";

  StructuredOptions structured = {};
  void describe(OptionTable& table) { structured.describe(table); }
};

// Inputs and worlds are matrices of bits: each kind has one rank and each rank one kind.
Builtin preference(const PreferenceOptions& options, const TaskContext& context);

}  // namespace anesi

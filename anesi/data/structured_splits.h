// Examples whose labels are worlds that satisfy a constraint, split for training.
#pragma once

#include <cstdint>
#include <string>

#include "anesi/core/rows.h"
#include "anesi/data/example_arrays.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct StructuredOptions {
  double labelled = 1;
  bool unlabelled = true;

  void describe(OptionTable& table) {
    table.add("labelled", labelled, {0, 1},
              "share of the training examples whose label is told; of the others only that the constraint holds");
    table.add("unlabelled", unlabelled, "learn from those others too, by the probability that the constraint holds");
  }
};

// Three fifths for training, one for validation, one for testing, in an order that the seed decides. The first `known`
// variables stay known if a label is not told.
SplitArrays split_structured(const Array& inputs, const Points& worlds, std::int64_t known,
                             const StructuredOptions& options, std::uint64_t seed, std::string origin);

}  // namespace anesi

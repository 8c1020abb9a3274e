// Examples whose labels are worlds that satisfy a constraint, split for training.
#pragma once

#include <torch/torch.h>

#include <string>

#include "anesi/options/option_table.h"
#include "anesi/tensors/examples.h"

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

// Three fifths for training, one for validation, one for testing, by a permutation that the seed decides. The first
// `known` variables stay known where a label is not told.
Splits split_structured(const torch::Tensor& inputs, const torch::Tensor& worlds, std::int64_t known,
                        const StructuredOptions& options, std::uint64_t seed, std::string origin);

}  // namespace anesi

// What a weighted formula is: how hard, how sure, and log Z in three ways.
#pragma once

#include "anesi/check/report.h"
#include "anesi/models/markov_inference.h"

namespace anesi {

struct SoftCheckOptions {
  double seconds = 60;          // for compiling
  std::int64_t samples = 4000;  // worlds that are drawn
  std::int64_t steps = 100;     // updates while q learns the formula for any beliefs and weights; 0: belief propagation
  std::uint64_t seed = 0;
};

// Beliefs are the file's weights of literals, and uniform where it gives none. Throws Error where the file is no
// weighted formula.
CheckReport check_soft_formula_file(const std::filesystem::path& file, const SoftCheckOptions& options = {});

}  // namespace anesi

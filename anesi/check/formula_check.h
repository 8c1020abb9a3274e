// What a formula is, before anything is learned from it: is it satisfiable, does it compile, how many models has it?
#pragma once

#include <filesystem>

#include "anesi/check/report.h"
#include "anesi/formula/formula.h"

namespace anesi {

struct FormulaCheckOptions {
  FormulaOptions formula{.seconds = 60};
  std::int64_t samples = 4000;           // of models, to count by sampling beside the circuit, or where none compiles
  std::uint64_t seed = 0;                // decides every draw
  std::filesystem::path write_nnf = {};  // where the circuit is to be written; empty: nowhere
  CheckReport::Tell tell = {};           // told each line as soon as it is known, the count before any sampling
};

// Throws Error where the file is no formula, or cannot be a problem (formula.h says when).
CheckReport check_formula_file(const std::filesystem::path& file, const FormulaCheckOptions& options = {});

}  // namespace anesi

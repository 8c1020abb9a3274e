// Worlds and beliefs of weighted formulas as tables: a column for each propositional variable.
//
// That is what people have in files. The library's worlds have one variable for each group of which exactly one holds
// (formula.h), and none for what is not shown.
#pragma once

#include <filesystem>

#include "anesi/core/array.h"
#include "anesi/formula/markov_logic.h"

namespace anesi {

// Numbers in rows: NPY where the name ends with .npy, else text with commas or blanks between
// them; a first line that begins with no number names the columns and is passed over. Throws Error "name:line: …" where
// something is no number or a row is of another length.
Matrix<double> read_table(const std::filesystem::path& file);

// The variables that columns stand for: those that are shown, by rising number.
std::vector<int> columns_of(const MarkovLogic& logic);

// From ones and zeros, a row for each world. Throws UsageError where there are other numbers or
// columns, or where not exactly one of a group is true.
Points worlds_of(const MarkovLogic& logic, Rows<const double> truths);
// From how likely each variable is true to beliefs, float64 [rows, worlds, domain]; those of a group in proportion.
Array beliefs_of(const MarkovLogic& logic, Rows<const double> probabilities);

// A world as literals: "1 -2 3".
std::string literals_of_world(const MarkovLogic& logic, Values world);

}  // namespace anesi

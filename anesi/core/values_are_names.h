// Worlds whose values could be renamed.
#pragma once

namespace anesi {

// A fact: c stays the same when the values of all worlds are renamed by one permutation (the digits of a sudoku). What
// perception calls a value is then its own choice, and accuracies are counted under the best renaming.
struct ValuesAreNames {};

}  // namespace anesi

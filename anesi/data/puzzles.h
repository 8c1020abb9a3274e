// Sudokus whose cells are handwritten digits, half of them correct: visual Sudoku puzzle classification.
//
// The rules are those of ViSudo-PC, strategy "simple" (Augustine et al., 2022). A puzzle of side n uses the digits 0 to
// n - 1. A correct one is filled row by row with numbers that may still stand there, from the start again at a dead
// end, and each of its cells takes a fresh image. Behind it comes its corrupted copy, which keeps the images of the
// cells that were not touched: half of the copies have cells replaced by other digits, the other half have pairs of
// cells exchanged; after each change comes another with probability 1/2, and no cell is touched twice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "anesi/core/array.h"
#include "anesi/core/rows.h"
#include "anesi/data/digits.h"

namespace anesi {

// Cell i of puzzle p, row by row, shows pool[index[p][i]].
struct Puzzles {
  Array pool;               // uint8 [images, 28, 28]
  Points index;             // [puzzles, cells]
  Points cells;             // [puzzles, cells], the digits shown, from 0; -1 where nobody says
  std::vector<bool> valid;  // [puzzles]

  std::int64_t size() const { return index.size(); }
};

// The parts share no image of the digits they were made from.
struct PuzzleParts {
  Puzzles train, test, validation;
  std::string origin;  // for people
};

struct PuzzleOptions {
  std::int64_t size = 4;       // the side, a square number
  std::int64_t split = 1;      // 1 to 11, the repetitions of an experiment
  std::int64_t puzzles = 100;  // correct ones in a part; as many are corrupted
};

// Correct and corrupted puzzles take turns in every part. Size and split alone seed every choice, by the same draws on
// every machine. Training, test and validation take puzzles * size images of each digit, from the training and test
// digits together. Throws Error where a digit has too few images, UsageError where the options make no puzzle. All
// three parts of 100 at 9x9 take about a tenth of a second.
PuzzleParts generate_puzzles(const DigitSets& digits, const PuzzleOptions& options);

// Whether no row, column or block holds a digit twice. The cells, size * size of them, are below the size.
bool is_valid_sudoku(std::span<const std::int64_t> cells, std::int64_t size);

// The side of a block of a puzzle whose side is `size`. Throws UsageError unless that is a square: 4, 9, 16, …
std::int64_t block_side(std::int64_t size);

// Throws UsageError unless the options describe puzzles: a side that is a square number from 4 to 64, and so on.
void check_puzzle_options(const PuzzleOptions& options);

}  // namespace anesi

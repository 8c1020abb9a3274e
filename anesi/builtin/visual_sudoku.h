// Grids of handwritten digits, labelled with whether they are valid sudokus (section 4.2 of the paper).
#pragma once

#include <array>
#include <string_view>

#include "anesi/builtin/builtin.h"

namespace anesi {

enum class PuzzleReader { kCells, kPuzzle };
constexpr std::array<std::string_view, 2> names_of(PuzzleReader) { return {"cells", "puzzle"}; }

struct VisualSudokuOptions {
  static constexpr const char* kName = "visual-sudoku";
  static constexpr const char* kSummary = "is a grid of handwritten digits a valid sudoku? From that bit alone";

  std::int64_t size = 4, split = 1, puzzles = 100;
  PuzzleReader reader = PuzzleReader::kCells;

  void describe(OptionTable& table) {
    table.add("size", size, {4, 64}, "cells of a side, and digits: a square number (the paper's are 4 and 9)");
    table.add("split", split, {1, 11}, "which of the independent data sets; 1 to 10 are for scores, 11 for tuning");
    table.add("puzzles", puzzles, {1, 1000000}, "valid puzzles in each part; there are as many invalid ones");
    table.add("reader", reader,
              "what perception looks at: each cell, or the whole puzzle at once (a baseline without knowledge)");
  }
};

// Its problem is a Sudoku if cells are read; else the identity of one variable, whether the puzzle is valid.
Builtin visual_sudoku(const VisualSudokuOptions& options, const TaskContext& context);

}  // namespace anesi

#include <algorithm>
#include <string>

#include "anesi/data/puzzle_text.h"
#include "fuzz/target.h"

namespace anesi::fuzz {

// The first letter says which of the three files it is.
ANESI_FUZZ_TARGET("puzzles", [](std::string_view input) {
  constexpr std::int64_t kSize = 4, kCells = kSize * kSize;
  if (input.empty()) return;
  const PuzzleLines lines(std::string(input.substr(1)), "train.txt");
  const auto puzzles = static_cast<std::size_t>(lines.size());
  if (input[0] == 'p') {
    // One image a puzzle: inputs that are read stay short.
    const auto pixels = parse_puzzle_pixels(lines, /*cells=*/1);
    expect(pixels.size() == puzzles * kSideOfPuzzleImage * kSideOfPuzzleImage, "each pixel is read");
  } else if (input[0] == 'c') {
    const auto digits = parse_cell_labels(lines, kSize);
    expect(digits.size() == puzzles * kCells, "each cell is read");
    expect(std::all_of(digits.begin(), digits.end(), [](std::int64_t digit) { return digit >= 0 && digit < kSize; }),
           "digits are of the grid's size");
  } else {
    expect(parse_puzzle_labels(lines).size() == puzzles, "each label is read");
  }
});

}  // namespace anesi::fuzz

// Puzzles in the files of ViSudo-PC.
//
// A split is a directory with nine files of interest, {train,test,valid}_{puzzle_pixels,puzzle_labels,cell_labels}.txt.
// Line p of each is about puzzle p, and its fields are separated by tabs:
//   puzzle_pixels  the images of the cells, row by row, each of 784 intensities from 0 to 1 with four decimals
//   puzzle_labels  "1 0" for a correct puzzle, "0 1" for another
//   cell_labels    the digit of each cell, as in "mnist_3"
// The archive holds many splits, in directories that say how they were made:
//   ViSudo-PC_dimension::4_datasets::mnist_strategy::simple/dimension::4/datasets::mnist/strategy::simple/
//   strategy::simple/numTrain::00100/numTest::00100/numValid::00100/corruptChance::0.50/overlap::0.00/split::01
#pragma once

#include <filesystem>

#include "anesi/data/puzzles.h"

namespace anesi {

// The directory is that of a split, or any above it in the unpacked archive; then the options say which split it is.
// The number of puzzles is that of the files. Without a file of cell labels the digits are -1: they are for scoring
// alone. Anything else that is missing or malformed throws Error with the file and the line: "train_puzzle_labels.txt:
// line 3: "2 0"; a correct puzzle has "1 0", another "0 1"". Images are not shared between puzzles, so a 9x9 part of
// 200 puzzles holds 13 MB; its 50 MB of text take an eighth of a second to read.
PuzzleParts read_published_puzzles(const std::filesystem::path& directory, const PuzzleOptions& options);

// Writes the files of a split, for other programs and for the reader above, which reads back the same images, digits
// and labels. The directory is made if need be.
void write_published_puzzles(const PuzzleParts& parts, const std::filesystem::path& directory);

}  // namespace anesi

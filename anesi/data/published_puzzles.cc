#include "anesi/data/published_puzzles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/data/puzzle_text.h"
#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& directory, std::string_view part, std::string_view what) {
  return directory / fmt::format("{}_{}.txt", part, what);
}

// Files of different splits, or of another order, have the right form but contradict each other.
void expect_agreement(const PuzzleLines& file, const Points& cells, const std::vector<bool>& valid, std::int64_t size) {
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const bool label = valid[static_cast<std::size_t>(puzzle)];
    if (is_valid_sudoku(cells[puzzle], size) != label) {
      file.fail(file[puzzle], fmt::format("the cells {} a Sudoku, but the puzzle is labelled {}",
                                          label ? "are not" : "are", label ? "correct" : "incorrect"));
    }
  }
}

PuzzleLines read_lines(const fs::path& path) { return {read_file(path, kLargestPuzzles), path}; }

Puzzles read_part(const fs::path& directory, std::string_view part, std::int64_t size) {
  const PuzzleLines labels = read_lines(file_of(directory, part, "puzzle_labels"));
  const std::int64_t cells = size * size;
  Puzzles puzzles;
  puzzles.valid = parse_puzzle_labels(labels);
  if (const fs::path path = file_of(directory, part, "cell_labels"); fs::exists(path)) {
    const PuzzleLines digits = read_lines(path);
    digits.expect_size(labels.size(), labels.path());
    puzzles.cells = Points(PointRows(parse_cell_labels(digits, size).data(), labels.size(), cells));
    expect_agreement(digits, puzzles.cells, puzzles.valid, size);
  } else {
    puzzles.cells = Points(labels.size(), cells, -1);
  }
  const PuzzleLines lines = read_lines(file_of(directory, part, "puzzle_pixels"));
  lines.expect_size(labels.size(), labels.path());
  const std::vector<std::uint8_t> pixels = parse_puzzle_pixels(lines, cells);
  puzzles.pool = Array::of<std::uint8_t>({labels.size() * cells, kSideOfPuzzleImage, kSideOfPuzzleImage}, pixels);
  puzzles.index = Points(labels.size(), cells);
  auto images = puzzles.index.rows().values();
  std::iota(images.begin(), images.end(), 0);
  return puzzles;
}

// Where the archive keeps a split; its strategy stands twice, by an oversight in how it was packed, or once, as the
// generator of the archive leaves it.
std::vector<fs::path> path_in_archive(const PuzzleOptions& options, bool strategy_twice) {
  const std::string dimension = fmt::format("dimension::{}", options.size);
  std::vector<fs::path> path = {
      "tmp",     "ViSudo-PC",       fmt::format("ViSudo-PC_{}_datasets::mnist_strategy::simple", dimension),
      dimension, "datasets::mnist", "strategy::simple"};
  if (strategy_twice) path.emplace_back("strategy::simple");
  for (const std::string& directory :
       {fmt::format("numTrain::{:05}", options.puzzles), std::string("numTest::00100"), std::string("numValid::00100"),
        std::string("corruptChance::0.50"), std::string("overlap::0.00"), fmt::format("split::{:02}", options.split)}) {
    path.emplace_back(directory);
  }
  return path;
}

fs::path find_split(const fs::path& directory, const PuzzleOptions& options) {
  if (fs::exists(file_of(directory, "train", "puzzle_labels"))) {
    const auto name = fs::weakly_canonical(directory).filename().string();
    if (name.starts_with("split::") && name != fmt::format("split::{:02}", options.split)) {
      throw UsageError(fmt::format("{}: task.split={} is another split than this one; give the directory above it",
                                   directory.string(), options.split));
    }
    return directory;
  }
  for (const bool strategy_twice : {true, false}) {
    const std::vector<fs::path> path = path_in_archive(options, strategy_twice);
    for (auto first = path.begin(); first != path.end(); ++first) {
      fs::path candidate = directory;
      for (auto name = first; name != path.end(); ++name) candidate /= *name;
      if (fs::is_directory(candidate)) return candidate;
    }
  }
  if (!fs::is_directory(directory))
    fail(directory, "no such directory; it should hold the unpacked files of ViSudo-PC");
  fail(directory, fmt::format("holds neither train_puzzle_labels.txt nor, in the directories of ViSudo-PC, split {} of "
                              "{}x{} puzzles with {} correct ones to train on",
                              options.split, options.size, options.size, options.puzzles));
}

// "0.0", "0.0039" … "1.0", as the published files have them.
std::array<std::string, 256> texts_of_pixels() {
  std::array<std::string, 256> texts;
  for (std::size_t pixel = 0; pixel < texts.size(); ++pixel) {
    texts[pixel] = fmt::format("{}", std::round(static_cast<double>(pixel) / 255 * 1e4) / 1e4);
    if (texts[pixel].find('.') == std::string::npos) texts[pixel] += ".0";
  }
  return texts;
}

std::string pixels_text(const Puzzles& puzzles) {
  const std::array<std::string, 256> texts = texts_of_pixels();
  const auto pixels = puzzles.pool.values<std::uint8_t>();
  constexpr auto kPixels = static_cast<std::size_t>(kSideOfPuzzleImage * kSideOfPuzzleImage);
  std::string text;
  for (std::int64_t puzzle = 0; puzzle < puzzles.size(); ++puzzle) {
    for (const auto image : puzzles.index[puzzle]) {
      for (const auto pixel : pixels.subspan(static_cast<std::size_t>(image) * kPixels, kPixels)) {
        (text += texts[pixel]) += '\t';
      }
    }
    text.back() = '\n';
  }
  return text;
}

std::string cells_text(const Puzzles& puzzles) {
  std::string text;
  for (std::int64_t puzzle = 0; puzzle < puzzles.size(); ++puzzle) {
    for (const auto digit : puzzles.cells[puzzle]) text += fmt::format("mnist_{}\t", digit);
    text.back() = '\n';
  }
  return text;
}

std::string labels_text(const Puzzles& puzzles) {
  std::string text;
  for (const bool valid : puzzles.valid) (text += valid ? kCorrectPuzzle : kCorruptedPuzzle) += '\n';
  return text;
}

void write_part(const Puzzles& puzzles, const fs::path& directory, std::string_view part) {
  const fs::path cells = file_of(directory, part, "cell_labels");
  if (std::ranges::all_of(puzzles.cells.values(), [](std::int64_t digit) { return digit >= 0; })) {
    write_file_atomically(cells, cells_text(puzzles));
  } else {
    fs::remove(cells);  // one of other puzzles must not stay
  }
  write_file_atomically(file_of(directory, part, "puzzle_pixels"), pixels_text(puzzles));
  write_file_atomically(file_of(directory, part, "puzzle_labels"), labels_text(puzzles));
}

}  // namespace

PuzzleParts read_published_puzzles(const fs::path& directory, const PuzzleOptions& options) {
  check_puzzle_options(options);
  const fs::path split = find_split(directory, options);
  PuzzleParts parts;
  parts.train = read_part(split, "train", options.size);
  parts.test = read_part(split, "test", options.size);
  parts.validation = read_part(split, "valid", options.size);
  parts.origin = "ViSudo-PC from " + split.string();
  return parts;
}

void write_published_puzzles(const PuzzleParts& parts, const fs::path& directory) {
  fs::create_directories(directory);
  write_part(parts.train, directory, "train");
  write_part(parts.test, directory, "test");
  write_part(parts.validation, directory, "valid");
}

}  // namespace anesi

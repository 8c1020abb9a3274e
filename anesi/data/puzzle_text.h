// The text of the files of ViSudo-PC (published_puzzles.h), each a line a puzzle.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

constexpr std::int64_t kSideOfPuzzleImage = 28;
constexpr std::string_view kCorrectPuzzle = "1\t0";
constexpr std::string_view kCorruptedPuzzle = "0\t1";

// The lines of a file that are not empty, with the numbers that an editor shows.
class PuzzleLines {
 public:
  struct Line {
    std::string_view text;
    std::int64_t number;
  };

  // The path only says in errors which file it was.
  PuzzleLines(std::string contents, const std::filesystem::path& path);
  PuzzleLines(const PuzzleLines&) = delete;
  PuzzleLines& operator=(const PuzzleLines&) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  const Line& operator[](std::int64_t line) const { return lines_[static_cast<std::size_t>(line)]; }
  const std::filesystem::path& path() const { return path_; }

  [[noreturn]] void fail(const Line& line, std::string_view what) const;
  // Throws Error where these are not as many lines as another file has.
  void expect_size(std::int64_t puzzles, const std::filesystem::path& other) const;

 private:
  std::filesystem::path path_;
  std::string contents_;
  std::vector<Line> lines_;
};

// Intensities from 0 to 255, [puzzle][cell][row][column]. Throws Error, as the others, where a line is not of its form.
std::vector<std::uint8_t> parse_puzzle_pixels(const PuzzleLines& file, std::int64_t cells);
// Whether each puzzle is correct.
std::vector<bool> parse_puzzle_labels(const PuzzleLines& file);
// The digits of puzzles of this size, [puzzle][cell].
std::vector<std::int64_t> parse_cell_labels(const PuzzleLines& file, std::int64_t size);

}  // namespace anesi

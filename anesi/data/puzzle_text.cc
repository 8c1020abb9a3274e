#include "anesi/data/puzzle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "anesi/io/fail.h"
#include "anesi/io/thousands.h"

namespace anesi {

PuzzleLines::PuzzleLines(std::string contents, const std::filesystem::path& path)
    : path_(path), contents_(std::move(contents)) {
  std::string_view rest = contents_;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (!text.empty()) lines_.push_back({text, number});
  }
  if (lines_.empty()) anesi::fail(path_, "the file is empty");
}

void PuzzleLines::fail(const Line& line, std::string_view what) const {
  anesi::fail(path_, fmt::format("line {}: {}", line.number, what));
}

void PuzzleLines::expect_size(std::int64_t puzzles, const std::filesystem::path& other) const {
  if (size() == puzzles) return;
  anesi::fail(path_,
              fmt::format("{} puzzles, but {} has {}; the files do not belong together", thousands(lines_.size()),
                          other.filename().string(), thousands(static_cast<std::uint64_t>(puzzles))));
}

namespace {

constexpr std::int64_t kPixelsOfImage = kSideOfPuzzleImage * kSideOfPuzzleImage;

// As much of a field as fits into a message of one line.
std::string quoted(std::string_view field) {
  std::string text;
  for (const char letter : field.substr(0, 20)) {
    if (letter == '\t') {
      text += ' ';
    } else if (letter >= ' ' && letter <= '~') {
      text += letter;
    } else {
      text += '?';
    }
  }
  return fmt::format("\"{}{}\"", text, field.size() > 20 ? "…" : "");
}

// Calls parse(number, begin, end) for each field of a line, from left to right; it gets the rest of the line and
// returns where the field ended, at a tab or the end.
template <typename Parse>
void parse_fields(const PuzzleLines& file, const PuzzleLines::Line& line, std::int64_t expected,
                  std::string_view called, const Parse& parse) {
  const std::int64_t fields = std::count(line.text.begin(), line.text.end(), '\t') + 1;
  if (fields != expected) {
    file.fail(line, fmt::format("{} {}; a puzzle of this size has {}", thousands(static_cast<std::uint64_t>(fields)),
                                called, thousands(static_cast<std::uint64_t>(expected))));
  }
  const char* at = line.text.data();
  const char* const end = at + line.text.size();
  for (std::int64_t field = 0; field < fields; ++field) at = parse(field, at, end) + 1;
}

std::string_view field_at(const char* at, const char* end) { return {at, std::find(at, end, '\t')}; }

// An intensity from 0 to 1 as a byte. Four decimals tell 256 of them apart.
const char* parse_pixel(const PuzzleLines& file, const PuzzleLines::Line& line, const char* at, const char* end,
                        std::int64_t field, std::uint8_t& pixel) {
  constexpr std::string_view kBlack = "0.0\t";  // as most are
  if (std::string_view(at, end).starts_with(kBlack)) {
    pixel = 0;
    return at + kBlack.size() - 1;
  }
  double intensity = 0;
  const auto [stop, failure] = std::from_chars(at, end, intensity);
  if (failure != std::errc() || (stop != end && *stop != '\t') || !(intensity >= 0 && intensity <= 1)) {
    file.fail(line,
              fmt::format("pixel {} is {}; it should be a number from 0 to 1", field + 1, quoted(field_at(at, end))));
  }
  pixel = static_cast<std::uint8_t>(std::lround(intensity * 255));
  return stop;
}

// "mnist_3": what is before the last underscore only says where the image came from.
const char* parse_digit(const PuzzleLines& file, const PuzzleLines::Line& line, const char* at, const char* end,
                        std::int64_t size, std::int64_t& digit) {
  const std::string_view field = field_at(at, end);
  const char* const field_end = field.data() + field.size();
  const std::size_t underscore = field.rfind('_');
  const char* const number = underscore == std::string_view::npos ? at : at + underscore + 1;
  const auto [stop, failure] = std::from_chars(number, field_end, digit);
  if (failure != std::errc() || stop != field_end || digit < 0 || digit >= size) {
    file.fail(line, fmt::format("a cell with {}; cells have \"mnist_0\" to \"mnist_{}\"", quoted(field), size - 1));
  }
  return field_end;
}

}  // namespace

std::vector<std::uint8_t> parse_puzzle_pixels(const PuzzleLines& file, std::int64_t cells) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const auto& line = file[puzzle];
    parse_fields(file, line, cells * kPixelsOfImage, "pixels",
                 [&](std::int64_t field, const char* at, const char* end) {
                   return parse_pixel(file, line, at, end, field, pixels.emplace_back());
                 });
  }
  return pixels;
}

std::vector<bool> parse_puzzle_labels(const PuzzleLines& file) {
  std::vector<bool> valid;
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const auto& line = file[puzzle];
    if (line.text != kCorrectPuzzle && line.text != kCorruptedPuzzle) {
      file.fail(line, fmt::format("{}; a correct puzzle has \"1 0\", another \"0 1\"", quoted(line.text)));
    }
    valid.push_back(line.text == kCorrectPuzzle);
  }
  return valid;
}

std::vector<std::int64_t> parse_cell_labels(const PuzzleLines& file, std::int64_t size) {
  std::vector<std::int64_t> digits;
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const auto& line = file[puzzle];
    parse_fields(file, line, size * size, "cells", [&](std::int64_t, const char* at, const char* end) {
      return parse_digit(file, line, at, end, size, digits.emplace_back());
    });
  }
  return digits;
}

}  // namespace anesi

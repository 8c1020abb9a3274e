#include "anesi/tasks/visual_sudoku/published_puzzles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSideOfImage = 28;
constexpr std::int64_t kPixelsOfImage = kSideOfImage * kSideOfImage;
constexpr std::string_view kCorrect = "1\t0";
constexpr std::string_view kCorrupted = "0\t1";

fs::path file_of(const fs::path& directory, std::string_view part, std::string_view what) {
  return directory / fmt::format("{}_{}.txt", part, what);
}

// The lines of a file that are not empty, with the numbers that an editor shows.
class Lines {
 public:
  struct Line {
    std::string_view text;
    std::int64_t number;
  };

  explicit Lines(const fs::path& path) : path_(path), contents_(read_file(path)) {
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
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  const Line& operator[](std::int64_t line) const { return lines_[static_cast<std::size_t>(line)]; }
  const fs::path& path() const { return path_; }

  [[noreturn]] void fail(const Line& line, std::string_view what) const {
    anesi::fail(path_, fmt::format("line {}: {}", line.number, what));
  }
  void expect_size(std::int64_t puzzles, const fs::path& other) const {
    if (size() == puzzles) return;
    anesi::fail(path_,
                fmt::format("{} puzzles, but {} has {}; the files do not belong together", thousands(lines_.size()),
                            other.filename().string(), thousands(static_cast<std::uint64_t>(puzzles))));
  }

 private:
  fs::path path_;
  std::string contents_;
  std::vector<Line> lines_;
};

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
void parse_fields(const Lines& file, const Lines::Line& line, std::int64_t expected, std::string_view called,
                  const Parse& parse) {
  const std::int64_t fields = std::ranges::count(line.text, '\t') + 1;
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
const char* parse_pixel(const Lines& file, const Lines::Line& line, const char* at, const char* end, std::int64_t field,
                        std::uint8_t& pixel) {
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

torch::Tensor parse_pixels(const Lines& file, std::int64_t cells) {
  torch::Tensor pool = torch::empty({file.size() * cells, kSideOfImage, kSideOfImage}, torch::kUInt8);
  auto* pixel = pool.mutable_data_ptr<std::uint8_t>();
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const Lines::Line& line = file[puzzle];
    parse_fields(file, line, cells * kPixelsOfImage, "pixels",
                 [&](std::int64_t field, const char* at, const char* end) {
                   return parse_pixel(file, line, at, end, field, *pixel++);
                 });
  }
  return pool;
}

torch::Tensor parse_puzzle_labels(const Lines& file) {
  torch::Tensor valid = torch::empty({file.size()}, torch::kBool);
  auto* label = valid.mutable_data_ptr<bool>();
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const Lines::Line& line = file[puzzle];
    if (line.text != kCorrect && line.text != kCorrupted) {
      file.fail(line, fmt::format("{}; a correct puzzle has \"1 0\", another \"0 1\"", quoted(line.text)));
    }
    label[puzzle] = line.text == kCorrect;
  }
  return valid;
}

// "mnist_3": what is before the last underscore only says where the image came from.
const char* parse_digit(const Lines& file, const Lines::Line& line, const char* at, const char* end, std::int64_t size,
                        std::int64_t& digit) {
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

torch::Tensor parse_cell_labels(const Lines& file, std::int64_t size) {
  torch::Tensor cells = torch::empty({file.size(), size * size}, torch::kInt64);
  auto* digit = cells.mutable_data_ptr<std::int64_t>();
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle) {
    const Lines::Line& line = file[puzzle];
    parse_fields(file, line, size * size, "cells", [&](std::int64_t, const char* at, const char* end) {
      return parse_digit(file, line, at, end, size, *digit++);
    });
  }
  return cells;
}

// Files of different splits, or of another order, have the right form but contradict each other.
void expect_agreement(const Lines& file, const torch::Tensor& cells, const torch::Tensor& valid, std::int64_t size) {
  const auto* digits = cells.const_data_ptr<std::int64_t>();
  const auto* label = valid.const_data_ptr<bool>();
  const auto count = static_cast<std::size_t>(size * size);
  for (std::int64_t puzzle = 0; puzzle < file.size(); ++puzzle, digits += count) {
    if (is_valid_sudoku({digits, count}, size) != label[puzzle]) {
      file.fail(file[puzzle], fmt::format("the cells {} a Sudoku, but the puzzle is labelled {}",
                                          label[puzzle] ? "are not" : "are", label[puzzle] ? "correct" : "incorrect"));
    }
  }
}

Puzzles read_part(const fs::path& directory, std::string_view part, std::int64_t size) {
  const Lines labels(file_of(directory, part, "puzzle_labels"));
  Puzzles puzzles;
  puzzles.valid = parse_puzzle_labels(labels);
  if (const fs::path path = file_of(directory, part, "cell_labels"); fs::exists(path)) {
    const Lines cells(path);
    cells.expect_size(labels.size(), labels.path());
    puzzles.cells = parse_cell_labels(cells, size);
    expect_agreement(cells, puzzles.cells, puzzles.valid, size);
  } else {
    puzzles.cells = torch::full({labels.size(), size * size}, -1, torch::kInt64);
  }
  const Lines pixels(file_of(directory, part, "puzzle_pixels"));
  pixels.expect_size(labels.size(), labels.path());
  puzzles.pool = parse_pixels(pixels, size * size);
  puzzles.index = torch::arange(labels.size() * size * size, torch::kInt64).view({labels.size(), size * size});
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
  const torch::Tensor pool = puzzles.pool.flatten(1).contiguous();
  const torch::Tensor index = puzzles.index.contiguous();
  const auto* image = index.const_data_ptr<std::int64_t>();
  const std::int64_t cells = index.size(1);
  std::string text;
  for (std::int64_t at = 0; at < index.numel(); ++at) {
    const auto* pixels = pool.const_data_ptr<std::uint8_t>() + image[at] * pool.size(1);
    for (std::int64_t pixel = 0; pixel < pool.size(1); ++pixel) (text += texts[pixels[pixel]]) += '\t';
    if (at % cells == cells - 1) text.back() = '\n';
  }
  return text;
}

std::string cells_text(const Puzzles& puzzles) {
  const torch::Tensor cells = puzzles.cells.contiguous();
  const auto* digit = cells.const_data_ptr<std::int64_t>();
  std::string text;
  for (std::int64_t at = 0; at < cells.numel(); ++at) {
    text += fmt::format("mnist_{}{}", digit[at], at % cells.size(1) == cells.size(1) - 1 ? '\n' : '\t');
  }
  return text;
}

std::string labels_text(const Puzzles& puzzles) {
  const torch::Tensor valid = puzzles.valid.contiguous();
  std::string text;
  for (std::int64_t puzzle = 0; puzzle < puzzles.size(); ++puzzle) {
    (text += valid.const_data_ptr<bool>()[puzzle] ? kCorrect : kCorrupted) += '\n';
  }
  return text;
}

void write_part(const Puzzles& puzzles, const fs::path& directory, std::string_view part) {
  const fs::path cells = file_of(directory, part, "cell_labels");
  if ((puzzles.cells >= 0).all().item<bool>()) {
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

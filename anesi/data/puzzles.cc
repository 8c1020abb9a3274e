#include "anesi/data/puzzles.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::int64_t kDigitClasses = 10;
constexpr std::int64_t kMostSplits = 11;
constexpr std::int64_t kLargestSide = 64;  // a set of digits is a 64-bit word
constexpr std::int64_t kMostChanges = 10;  // of a corrupted puzzle
constexpr std::int64_t kParts = 3;

using Cells = std::vector<std::int64_t>;

// The standard says what this engine yields, but not what its distributions make of it; so they are made here.
class PuzzleDraws {
 public:
  explicit PuzzleDraws(const PuzzleOptions& options)
      : engine_(static_cast<std::uint64_t>(options.size) << 32 | static_cast<std::uint64_t>(options.split)) {}

  // Uniform in [0, bound), for a bound below 2^32 (Lemire, "Fast random integer generation in an interval", 2019).
  std::int64_t below(std::int64_t bound) {
    const auto limit = static_cast<std::uint32_t>(bound);
    std::uint64_t product = (engine_() >> 32) * limit;
    if (static_cast<std::uint32_t>(product) < limit) {
      const std::uint32_t uneven = -limit % limit;
      while (static_cast<std::uint32_t>(product) < uneven) product = (engine_() >> 32) * limit;
    }
    return static_cast<std::int64_t>(product >> 32);
  }
  bool coin() { return (engine_() >> 63) != 0; }

  void shuffle(std::vector<std::int64_t>& items) {
    for (auto left = static_cast<std::int64_t>(items.size()); left > 1; --left) {
      std::swap(items[static_cast<std::size_t>(left - 1)], items[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

// The digits that each row, column and block holds, as sets of bits.
class DigitsInUse {
 public:
  explicit DigitsInUse(std::int64_t size)
      : rows_(static_cast<std::size_t>(size)), columns_(rows_), blocks_(rows_), units_(place_cells(size)) {}

  void clear() {
    std::ranges::fill(rows_, 0);
    std::ranges::fill(columns_, 0);
    std::ranges::fill(blocks_, 0);
  }
  std::uint64_t around(std::size_t cell) const {
    const Units& in = units_[cell];
    return rows_[in.row] | columns_[in.column] | blocks_[in.block];
  }
  void add(std::size_t cell, std::uint64_t digit) {
    const Units& in = units_[cell];
    rows_[in.row] |= digit;
    columns_[in.column] |= digit;
    blocks_[in.block] |= digit;
  }

 private:
  struct Units {
    std::size_t row, column, block;
  };

  static std::vector<Units> place_cells(std::int64_t size) {
    const auto side = static_cast<std::size_t>(size);
    const auto block = static_cast<std::size_t>(block_side(size));
    std::vector<Units> units;
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t column = 0; column < side; ++column) {
        units.push_back({row, column, row / block * block + column / block});
      }
    }
    return units;
  }

  std::vector<std::uint64_t> rows_, columns_, blocks_;
  std::vector<Units> units_;
};

std::uint64_t without_lowest_bits(std::uint64_t bits, std::int64_t count) {
  for (; count > 0; --count) bits &= bits - 1;
  return bits;
}

// Makes the puzzles of one part. Image k of digit d is number d * images_per_digit + k of the part's pool.
class PuzzleMaker {
 public:
  PuzzleMaker(const PuzzleOptions& options, PuzzleDraws& draws)
      : size_(options.size),
        images_per_digit_(options.puzzles * options.size),
        draws_(draws),
        in_use_(options.size),
        taken_(static_cast<std::size_t>(options.size)),
        touched_(static_cast<std::size_t>(options.size * options.size)) {}

  struct Puzzle {
    Cells digits;
    Cells images;
  };

  Puzzle correct() {
    Puzzle puzzle;
    puzzle.digits.resize(touched_.size());
    while (!fill(puzzle.digits)) {
    }
    for (const std::int64_t digit : puzzle.digits) {
      puzzle.images.push_back(digit * images_per_digit_ + taken_[static_cast<std::size_t>(digit)]++);
    }
    return puzzle;
  }

  // Exchanging equal digits changes nothing, and replacements may happen to leave a Sudoku; then it is done again.
  Puzzle corrupted(const Puzzle& original) {
    const bool replaces = draws_.coin();
    Puzzle puzzle;
    do {
      puzzle = original;
      corrupt(puzzle, replaces);
    } while (is_valid_sudoku(puzzle.digits, size_));
    return puzzle;
  }

 private:
  // False at a dead end. At 9x9 most attempts end in one, so this is where the time goes.
  bool fill(Cells& digits) {
    const std::uint64_t all = ~std::uint64_t{0} >> (kLargestSide - size_);
    in_use_.clear();
    for (std::size_t cell = 0; cell < digits.size(); ++cell) {
      const std::uint64_t allowed = all & ~in_use_.around(cell);
      if (allowed == 0) return false;
      const std::uint64_t rest = without_lowest_bits(allowed, draws_.below(std::popcount(allowed)));
      in_use_.add(cell, rest & -rest);
      digits[cell] = std::countr_zero(rest);
    }
    return true;
  }

  void corrupt(Puzzle& puzzle, bool replaces) {
    const auto cells = static_cast<std::int64_t>(touched_.size());
    const std::int64_t most = std::min(kMostChanges, replaces ? cells : cells / 2);
    touched_.assign(touched_.size(), false);
    for (std::int64_t changes = 0; changes < most && (changes == 0 || draws_.coin()); ++changes) {
      const std::size_t cell = touch();
      if (replaces) {
        replace(puzzle, cell);
      } else {
        const std::size_t other = touch();
        std::swap(puzzle.digits[cell], puzzle.digits[other]);
        std::swap(puzzle.images[cell], puzzle.images[other]);
      }
    }
  }

  std::size_t touch() {
    while (true) {
      const auto cell = static_cast<std::size_t>(draws_.below(static_cast<std::int64_t>(touched_.size())));
      if (!touched_[cell]) {
        touched_[cell] = true;
        return cell;
      }
    }
  }

  void replace(Puzzle& puzzle, std::size_t cell) {
    std::int64_t digit = draws_.below(size_ - 1);
    if (digit >= puzzle.digits[cell]) ++digit;  // any but the one that is there
    puzzle.digits[cell] = digit;
    puzzle.images[cell] = digit * images_per_digit_ + draws_.below(images_per_digit_);
  }

  std::int64_t size_;
  std::int64_t images_per_digit_;
  PuzzleDraws& draws_;
  DigitsInUse in_use_;
  Cells taken_;  // images of each digit that correct puzzles have taken
  std::vector<bool> touched_;
};

// The numbers of the images of each digit below the size, shuffled.
std::vector<Cells> images_of_digits(const Cells& labels, const PuzzleOptions& options, PuzzleDraws& draws) {
  std::vector<Cells> images(static_cast<std::size_t>(options.size));
  for (std::size_t image = 0; image < labels.size(); ++image) {
    if (labels[image] >= 0 && labels[image] < options.size) {
      images[static_cast<std::size_t>(labels[image])].push_back(static_cast<std::int64_t>(image));
    }
  }
  const std::int64_t needed = kParts * options.puzzles * options.size;
  for (std::size_t digit = 0; digit < images.size(); ++digit) {
    if (static_cast<std::int64_t>(images[digit].size()) < needed) {
      throw Error(fmt::format(
          "digit {}: {} images are too few; {} correct {}x{} puzzles in each of {} parts need {} of every digit", digit,
          thousands(images[digit].size()), thousands(static_cast<std::uint64_t>(options.puzzles)), options.size,
          options.size, kParts, thousands(static_cast<std::uint64_t>(needed))));
    }
    draws.shuffle(images[digit]);
  }
  return images;
}

Puzzles generate_part(Array pool, const PuzzleOptions& options, PuzzleDraws& draws) {
  const std::int64_t count = 2 * options.puzzles;
  const std::int64_t cells = options.size * options.size;
  Puzzles part{std::move(pool), Points(count, cells), Points(count, cells), {}};
  const auto append = [&](const PuzzleMaker::Puzzle& puzzle, bool valid) {
    const auto row = std::ssize(part.valid);
    std::ranges::copy(puzzle.images, part.index[row].begin());
    std::ranges::copy(puzzle.digits, part.cells[row].begin());
    part.valid.push_back(valid);
  };
  PuzzleMaker maker(options, draws);
  for (std::int64_t puzzle = 0; puzzle < options.puzzles; ++puzzle) {
    const PuzzleMaker::Puzzle correct = maker.correct();
    append(correct, true);
    append(maker.corrupted(correct), false);
  }
  return part;
}

}  // namespace

std::int64_t block_side(std::int64_t size) {
  const auto side = std::lround(std::sqrt(static_cast<double>(size)));
  if (size < 4 || side * side != size) {
    throw UsageError(fmt::format("sudoku: a side of {}; it must be a square: 4, 9, 16, …", size));
  }
  return side;
}

void check_puzzle_options(const PuzzleOptions& options) {
  const std::int64_t size = options.size;
  block_side(size);  // complains unless it is a square
  if (size > kLargestSide) throw UsageError(fmt::format("a puzzle of side {}; {} is the largest", size, kLargestSide));
  if (options.split < 1 || options.split > kMostSplits) {
    throw UsageError(fmt::format("split {}; there are splits 1 to {}", options.split, kMostSplits));
  }
  if (options.puzzles < 1 || options.puzzles > 1'000'000) {
    throw UsageError(fmt::format("{} correct puzzles in a part; there may be 1 to 1,000,000", options.puzzles));
  }
}

bool is_valid_sudoku(std::span<const std::int64_t> cells, std::int64_t size) {
  DigitsInUse in_use(size);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::uint64_t digit = std::uint64_t{1} << cells[cell];
    if ((in_use.around(cell) & digit) != 0) return false;
    in_use.add(cell, digit);
  }
  return true;
}

PuzzleParts generate_puzzles(const DigitSets& digits, const PuzzleOptions& options) {
  check_puzzle_options(options);
  if (options.size > kDigitClasses) {
    throw UsageError(fmt::format("{0}x{0} puzzles need {0} different digits; there are {1}; use a side of 4 or 9",
                                 options.size, kDigitClasses));
  }
  PuzzleDraws draws(options);
  const auto images = joined(digits.train.images, digits.test.images);
  auto labels = digits.train.labels;
  labels.insert(labels.end(), digits.test.labels.begin(), digits.test.labels.end());
  const std::vector<Cells> of_digit = images_of_digits(labels, options, draws);

  const std::int64_t images_per_digit = options.puzzles * options.size;
  const auto part = [&](std::int64_t number) {
    Cells chosen;
    for (const Cells& candidates : of_digit) {
      const auto first = candidates.begin() + number * images_per_digit;
      chosen.insert(chosen.end(), first, first + images_per_digit);
    }
    return generate_part(rows_of(images, chosen), options, draws);
  };
  PuzzleParts parts;
  parts.train = part(0);
  parts.test = part(1);
  parts.validation = part(2);
  parts.origin = fmt::format("{}, in {}x{} puzzles by the rules of ViSudo-PC, split {}", digits.origin, options.size,
                             options.size, options.split);
  return parts;
}

}  // namespace anesi

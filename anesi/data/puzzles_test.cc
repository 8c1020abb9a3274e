#include "anesi/data/puzzles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/data/published_puzzles.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

// So many images, of which image i has the label i mod 10 and its number in its first three pixels.
DigitImages numbered_images(std::int64_t begin, std::int64_t end) {
  DigitImages digits{Array(NumberType::kUInt8, {end - begin, 28, 28}), {}};
  auto* pixels = digits.images.values<std::uint8_t>().data();
  for (auto number = begin; number < end; ++number, pixels += 784) {
    std::fill_n(pixels, 784, std::uint8_t{0});
    for (int place = 0; place < 3; ++place) pixels[place] = static_cast<std::uint8_t>(number >> (8 * place) & 255);
    digits.labels.push_back(number % 10);
  }
  return digits;
}

DigitSets numbered_digits(std::int64_t count) {
  return {numbered_images(0, count / 2), numbered_images(count / 2, count), "numbers", false};
}

// The number of the image that each cell shows.
Points numbers_shown(const Puzzles& puzzles) {
  const auto pixels = puzzles.pool.values<std::uint8_t>();
  auto numbers = puzzles.index;
  for (auto& cell : numbers.rows().values()) {
    const auto image = pixels.subspan(static_cast<std::size_t>(cell) * 784, 3);
    cell = image[0] + (image[1] << 8) + (image[2] << 16);
  }
  return numbers;
}

std::vector<std::int64_t> to_vector(Values row) { return {row.begin(), row.end()}; }
std::set<std::int64_t> to_set(Values row) { return {row.begin(), row.end()}; }

// Row, column and block by their definition.
bool follows_the_rules(Values cells, std::int64_t size, std::int64_t block) {
  for (std::int64_t unit = 0; unit < size; ++unit) {
    std::set<std::int64_t> row, column, of_block;
    for (std::int64_t place = 0; place < size; ++place) {
      const auto at = [&](std::int64_t i, std::int64_t j) { return cells[static_cast<std::size_t>(i * size + j)]; };
      row.insert(at(unit, place));
      column.insert(at(place, unit));
      of_block.insert(at(unit / block * block + place / block, unit % block * block + place % block));
    }
    for (const auto* const part : {&row, &column, &of_block}) {
      if (std::ssize(*part) != size) return false;
    }
  }
  return true;
}

void expect_equal(const Puzzles& actual, const Puzzles& expected) {
  EXPECT_EQ(actual.valid, expected.valid);
  EXPECT_EQ(actual.cells, expected.cells);
  EXPECT_EQ(rows_of(actual.pool, actual.index.values()), rows_of(expected.pool, expected.index.values()));
}

class PuzzlesOfSide : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::int64_t side_ = GetParam();
  std::int64_t block_ = side_ == 4 ? 2 : 3;
  PuzzleParts parts_ = generate_puzzles(numbered_digits(27'000), {.size = side_, .split = 2, .puzzles = 100});
};

TEST_P(PuzzlesOfSide, TakeTurnsInBeingValid) {
  for (const Puzzles& part : {parts_.train, parts_.test, parts_.validation}) {
    ASSERT_EQ(part.size(), 200);
    ASSERT_EQ(part.cells.size(), 200);
    ASSERT_EQ(part.cells.width(), side_ * side_);
    for (std::int64_t puzzle = 0; puzzle < part.size(); ++puzzle) {
      EXPECT_EQ(part.valid[static_cast<std::size_t>(puzzle)], puzzle % 2 == 0);
      EXPECT_EQ(follows_the_rules(part.cells[puzzle], side_, block_), puzzle % 2 == 0);
      EXPECT_EQ(is_valid_sudoku(part.cells[puzzle], side_), puzzle % 2 == 0);
    }
  }
}

TEST_P(PuzzlesOfSide, ShowTheDigitsTheySay) {
  for (const Puzzles& part : {parts_.train, parts_.test, parts_.validation}) {
    auto shown = numbers_shown(part);
    for (auto& cell : shown.rows().values()) cell %= 10;
    EXPECT_EQ(shown, part.cells);
    EXPECT_EQ(part.pool.shape()[0], 100 * side_ * side_);
  }
}

TEST_P(PuzzlesOfSide, ShareNoImageBetweenPartsNorBetweenValidPuzzles) {
  std::set<std::int64_t> seen;
  for (const Puzzles& part : {parts_.train, parts_.test, parts_.validation}) {
    const auto numbers = numbers_shown(part);
    std::set<std::int64_t> valid;
    for (std::int64_t puzzle = 0; puzzle < part.size(); puzzle += 2) valid.merge(to_set(numbers[puzzle]));
    EXPECT_EQ(static_cast<std::int64_t>(valid.size()), 100 * side_ * side_);
    for (const std::int64_t number : to_set(numbers.values())) EXPECT_TRUE(valid.contains(number));
    for (const std::int64_t number : valid) EXPECT_TRUE(seen.insert(number).second);
  }
}

// How many cells a corrupted puzzle differs in from the one before it, and of what kind.
TEST_P(PuzzlesOfSide, AreCorruptedByReplacementsOrExchanges) {
  std::int64_t exchanged = 0;
  std::vector<std::int64_t> changes(21);
  for (const Puzzles& part : {parts_.train, parts_.test, parts_.validation}) {
    for (std::int64_t puzzle = 0; puzzle < part.size(); puzzle += 2) {
      const auto differs = [&](const Points& points) {
        std::vector<bool> places;
        for (std::size_t cell = 0; cell < points[puzzle].size(); ++cell) {
          places.push_back(points[puzzle][cell] != points[puzzle + 1][cell]);
        }
        return places;
      };
      const auto changed = differs(part.index);
      const auto cells = std::ranges::count(changed, true);
      ASSERT_GE(cells, 1);
      ASSERT_LE(cells, 20);
      const bool same_images = to_set(part.index[puzzle]) == to_set(part.index[puzzle + 1]);
      EXPECT_TRUE(same_images ? cells % 2 == 0 : differs(part.cells) == changed);
      exchanged += same_images ? 1 : 0;
      ++changes[static_cast<std::size_t>(same_images ? cells / 2 : cells)];
    }
  }
  EXPECT_NEAR(static_cast<double>(exchanged), 150, 45);   // of 300
  EXPECT_NEAR(static_cast<double>(changes[1]), 145, 45);  // a bit below half: exchanges may have to be done again
  EXPECT_NEAR(static_cast<double>(changes[2]), 78, 40);
}

INSTANTIATE_TEST_SUITE_P(, PuzzlesOfSide, ::testing::Values(4, 9));

TEST(Puzzles, AreDecidedBySizeAndSplit) {
  const DigitSets digits = numbered_digits(2000);
  const PuzzleParts parts = generate_puzzles(digits, {.split = 3, .puzzles = 10});
  const PuzzleParts same = generate_puzzles(digits, {.split = 3, .puzzles = 10});
  expect_equal(parts.train, same.train);
  expect_equal(parts.test, same.test);
  expect_equal(parts.validation, same.validation);
  const PuzzleParts other = generate_puzzles(digits, {.split = 4, .puzzles = 10});
  EXPECT_NE(parts.train.cells, other.train.cells);
  EXPECT_EQ(parts.origin, "numbers, in 4x4 puzzles by the rules of ViSudo-PC, split 3");
}

// Figures measured on split 1 mean the same puzzles everywhere, today and later.
TEST(Puzzles, StayWhatTheyWere) {
  const PuzzleParts parts = generate_puzzles(numbered_digits(2000), {.puzzles = 10});
  EXPECT_EQ(to_vector(parts.train.cells[0]),
            (std::vector<std::int64_t>{3, 0, 1, 2, 1, 2, 3, 0, 0, 3, 2, 1, 2, 1, 0, 3}));
  EXPECT_EQ(to_vector(numbers_shown(parts.train)[1]),
            (std::vector<std::int64_t>{1982, 1302, 951, 420, 201, 1372, 363, 220, 1580, 1543, 1583, 1131, 1412, 1171,
                                       600, 33}));
}

TEST(Puzzles, SayWhyThereAreNone) {
  const auto error = [](std::int64_t digits, const PuzzleOptions& options) {
    return toys::message_of([&] { generate_puzzles(numbered_digits(digits), options); });
  };
  EXPECT_TRUE(toys::names(error(20, {.size = 5}), {"5", "4, 9, 16"}));
  EXPECT_TRUE(toys::names(error(20, {.size = 1}), {"1", "4, 9, 16"}));
  EXPECT_TRUE(toys::names(error(20, {.size = 16}), {"16x16", "10", "4", "9"}));
  EXPECT_TRUE(toys::names(error(20, {.split = 12}), {"split 12", "1", "11"}));
  EXPECT_TRUE(toys::names(error(20, {.puzzles = 0}), {"0", "1,000,000"}));
  EXPECT_TRUE(toys::names(error(11'992, {}), {"digit 2", "1,199", "100", "4x4", "1,200"}));
}

class PuzzleFiles : public ::testing::Test {
 protected:
  PuzzleFiles() { write_published_puzzles(parts_, split_); }

  void write(const std::string& name, const std::string& contents) { write_file_atomically(split_ / name, contents); }

  // Replaces a piece of a file that is there already.
  void replace(const std::string& name, const std::string& before, const std::string& after) {
    std::string contents = read_file(split_ / name, kLargestPuzzles);
    const std::size_t at = contents.find(before);
    ASSERT_NE(at, std::string::npos);
    write(name, contents.replace(at, before.size(), after));
  }

  // What reading says, without the path of the directory.
  std::string error(const PuzzleOptions& options = {}) const {
    const std::string message = toys::message_of([&] { read_published_puzzles(split_, options); });
    return message.starts_with(split_.string()) ? message.substr(split_.string().size() + 1) : message;
  }

  PuzzleParts parts_ = generate_puzzles(numbered_digits(2000), {.puzzles = 3});
  TemporaryDirectory directory_;
  fs::path split_ = directory_.path() / "split";
};

TEST_F(PuzzleFiles, ReadBackWhatWasWritten) {
  const PuzzleParts read = read_published_puzzles(split_, {});
  expect_equal(read.train, parts_.train);
  expect_equal(read.test, parts_.test);
  expect_equal(read.validation, parts_.validation);
  EXPECT_EQ(read.origin, "ViSudo-PC from " + split_.string());
}

TEST_F(PuzzleFiles, LookLikeThePublishedOnes) {
  EXPECT_EQ(read_file(split_ / "test_puzzle_labels.txt", kLargestPuzzles), "1\t0\n0\t1\n1\t0\n0\t1\n1\t0\n0\t1\n");
  const std::string cells = read_file(split_ / "valid_cell_labels.txt", kLargestPuzzles);
  EXPECT_EQ(std::ranges::count(cells, '\n'), 6);
  EXPECT_EQ(cells.substr(0, 8), "mnist_" + std::to_string(parts_.validation.cells[0][0]) + "\t");
  // Every byte, as Python writes it.
  Array pool(NumberType::kUInt8, {16, 28, 28});
  for (std::size_t pixel = 0; pixel < 16 * 784; ++pixel) {
    pool.values<std::uint8_t>()[pixel] = static_cast<std::uint8_t>(pixel % 256);
  }
  Points index(1, 16);
  std::iota(index[0].begin(), index[0].end(), 0);
  write_published_puzzles({{pool, index, Points(1, 16, -1), {false}}, parts_.test, parts_.validation, ""}, split_);
  const std::string pixels = read_file(split_ / "train_puzzle_pixels.txt", kLargestPuzzles);
  EXPECT_TRUE(pixels.starts_with("0.0\t0.0039\t0.0078\t0.0118\t")) << pixels.substr(0, 40);
  EXPECT_NE(pixels.find("\t0.498\t0.502\t"), std::string::npos);
  EXPECT_TRUE(pixels.ends_with("\t0.9961\t1.0\n"));
  EXPECT_FALSE(fs::exists(split_ / "train_cell_labels.txt"));
  const Puzzles read = read_published_puzzles(split_, {}).train;
  EXPECT_EQ(read.pool, pool);
  EXPECT_EQ(read.cells, Points(1, 16, -1));
}

TEST_F(PuzzleFiles, AreFoundInTheArchive) {
  const fs::path above = "dimension::4/datasets::mnist/strategy::simple";
  const fs::path below = "numTrain::00003/numTest::00100/numValid::00100/corruptChance::0.50/overlap::0.00/split::07";
  const PuzzleOptions options{.split = 7, .puzzles = 3};
  const std::string missing = toys::message_of([&] { read_published_puzzles(directory_.path(), options); });
  EXPECT_TRUE(toys::names(missing, {directory_.path().string(), "train_puzzle_labels.txt", "split 7", "4x4", "3"}));
  for (const fs::path& path : {above / "strategy::simple" / below, above / below}) {
    const fs::path root = directory_.path() / "archive";
    fs::create_directories((root / path).parent_path());
    fs::copy(split_, root / path);
    expect_equal(read_published_puzzles(root, options).train, parts_.train);
    expect_equal(read_published_puzzles(root / above, options).train, parts_.train);
    expect_equal(read_published_puzzles(root / path, options).train, parts_.train);
    fs::remove_all(root);
  }
}

TEST_F(PuzzleFiles, MayEndLinesAsTheyLike) {
  write("test_puzzle_labels.txt", "1\t0\r\n0\t1\r\n1\t0\r\n0\t1\r\n\r\n1\t0\r\n0\t1");
  expect_equal(read_published_puzzles(split_, {}).test, parts_.test);
}

TEST_F(PuzzleFiles, SayWhatIsWrongWithPuzzleLabels) {
  const std::string expected = "; a correct puzzle has \"1 0\", another \"0 1\"";
  write("train_puzzle_labels.txt", "1\t0\n0\t1\n\n2\t0\n");
  EXPECT_EQ(error(), "train_puzzle_labels.txt: line 4: \"2 0\"" + expected);
  write("train_puzzle_labels.txt", "1\t0\n1\n");
  EXPECT_EQ(error(), "train_puzzle_labels.txt: line 2: \"1\"" + expected);
  write("train_puzzle_labels.txt", "1\t1\n");
  EXPECT_EQ(error(), "train_puzzle_labels.txt: line 1: \"1 1\"" + expected);
  write("train_puzzle_labels.txt", std::string(100, '\1'));
  EXPECT_EQ(error(), "train_puzzle_labels.txt: line 1: \"????????????????????…\"" + expected);
  write("train_puzzle_labels.txt", "\n\n");
  EXPECT_EQ(error(), "train_puzzle_labels.txt: the file is empty");
}

TEST_F(PuzzleFiles, SayWhatIsWrongWithCells) {
  replace("test_cell_labels.txt", "\n", "\tmnist_1\n");
  EXPECT_EQ(error(), "test_cell_labels.txt: line 1: 17 cells; a puzzle of this size has 16");
  write_published_puzzles(parts_, split_);
  replace("test_cell_labels.txt", "\nmnist_", "\nmnist_1");
  EXPECT_TRUE(error().starts_with("test_cell_labels.txt: line 2: a cell with \"mnist_1")) << error();
  EXPECT_TRUE(error().ends_with("\"; cells have \"mnist_0\" to \"mnist_3\"")) << error();
  write_published_puzzles(parts_, split_);
  replace("test_cell_labels.txt", "mnist_0", "mnist_");
  EXPECT_TRUE(error().starts_with("test_cell_labels.txt: line 1: a cell with \"mnist_\";")) << error();
  write_published_puzzles(parts_, split_);
  replace("test_puzzle_labels.txt", "0\t1\n1\t0\n", "0\t1\n0\t1\n");
  EXPECT_EQ(error(), "test_cell_labels.txt: line 3: the cells are a Sudoku, but the puzzle is labelled incorrect");
  write("test_puzzle_labels.txt", "1\t0\n1\t0\n1\t0\n1\t0\n1\t0\n1\t0\n");
  EXPECT_EQ(error(), "test_cell_labels.txt: line 2: the cells are not a Sudoku, but the puzzle is labelled correct");
}

TEST_F(PuzzleFiles, SayWhatIsWrongWithPixels) {
  const auto with_first_pixel = [&](const std::string& pixel) {
    write_published_puzzles(parts_, split_);
    const std::string contents = read_file(split_ / "valid_puzzle_pixels.txt", kLargestPuzzles);
    const std::size_t second = contents.find('\n') + 1;
    write("valid_puzzle_pixels.txt", contents.substr(0, second) + pixel + contents.substr(contents.find('\t', second)));
    return error();
  };
  const std::string expected = "; it should be a number from 0 to 1";
  EXPECT_EQ(with_first_pixel("0.5"), "no error");
  EXPECT_EQ(with_first_pixel("1"), "no error");
  EXPECT_EQ(with_first_pixel("1.5"), "valid_puzzle_pixels.txt: line 2: pixel 1 is \"1.5\"" + expected);
  EXPECT_EQ(with_first_pixel("-0.1"), "valid_puzzle_pixels.txt: line 2: pixel 1 is \"-0.1\"" + expected);
  EXPECT_EQ(with_first_pixel("nan"), "valid_puzzle_pixels.txt: line 2: pixel 1 is \"nan\"" + expected);
  EXPECT_EQ(with_first_pixel("0.5x"), "valid_puzzle_pixels.txt: line 2: pixel 1 is \"0.5x\"" + expected);
  EXPECT_EQ(with_first_pixel(""), "valid_puzzle_pixels.txt: line 2: pixel 1 is \"\"" + expected);
  EXPECT_EQ(with_first_pixel("0.5\t0.5"),
            "valid_puzzle_pixels.txt: line 2: 12,545 pixels; a puzzle of this size has 12,544");
  write("valid_puzzle_pixels.txt", "0.0\n");
  EXPECT_EQ(error(),
            "valid_puzzle_pixels.txt: 1 puzzles, but valid_puzzle_labels.txt has 6; the files do not belong together");
  fs::remove(split_ / "valid_puzzle_pixels.txt");
  EXPECT_TRUE(error().starts_with("valid_puzzle_pixels.txt: ")) << error();
}

TEST_F(PuzzleFiles, AreOfOneSize) {
  fs::remove(split_ / "train_cell_labels.txt");
  EXPECT_EQ(error({.size = 9}), "train_puzzle_pixels.txt: line 1: 12,544 pixels; a puzzle of this size has 63,504");
}

TEST_F(PuzzleFiles, MustBeSomewhere) {
  fs::remove_all(split_);
  EXPECT_EQ(error(), " no such directory; it should hold the unpacked files of ViSudo-PC");
}

}  // namespace
}  // namespace anesi

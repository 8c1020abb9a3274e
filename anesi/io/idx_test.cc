#include "anesi/io/idx.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

std::string error_for(const std::string& contents) {
  try {
    parse_idx(contents, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The magic of unsigned bytes in so many dimensions, then the sizes as given.
std::string header(char dimensions, const std::string& sizes) {
  return std::string("\0\0\x08", 3) + dimensions + sizes;
}

std::string size(unsigned value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

Array bytes(std::vector<std::int64_t> shape, const std::vector<std::uint8_t>& values) {
  return Array::of<std::uint8_t>(std::move(shape), values);
}

TEST(Idx, ReadsBackWhatItWrote) {
  const TemporaryDirectory directory;
  std::vector<std::uint8_t> many(5 * 28 * 27);
  for (std::size_t place = 0; place < many.size(); ++place) many[place] = static_cast<std::uint8_t>(place * 7);
  for (const auto& array : {bytes({5, 28, 27}, many), bytes({3}, {0, 9, 255}), bytes({0}, {})}) {
    write_idx(directory.path() / "array", array);
    EXPECT_EQ(read_idx(directory.path() / "array"), array);
  }
}

TEST(Idx, ReadsTheBytesOfTheFormat) {
  EXPECT_EQ(parse_idx(header(1, size(3)) + "\x05\x01\xff", "file"), bytes({3}, {5, 1, 255}));
  EXPECT_EQ(parse_idx(header(3, size(1) + size(2) + size(2)) + "abcd", "file"), bytes({1, 2, 2}, {97, 98, 99, 100}));
}

TEST(Idx, SaysWhatIsWrongWithAHeader) {
  EXPECT_TRUE(toys::names(error_for(""), {"file"}));
  EXPECT_TRUE(toys::names(error_for("ab"), {"file", "2"}));
  EXPECT_TRUE(toys::names(error_for("\x1f\x8b\x08 and so on"), {"file"}));
  EXPECT_TRUE(toys::names(error_for("<html></html>"), {"file"}));
  EXPECT_TRUE(toys::names(error_for(std::string("\0\0\x0d\x01", 4) + size(0)), {"file", "0x0d", "0x08"}));
  EXPECT_TRUE(toys::names(error_for(header(2, size(0) + size(0))), {"file", "2", "1", "3"}));
  EXPECT_TRUE(toys::names(error_for(header(0, "")), {"file", "0", "1", "3"}));
  EXPECT_TRUE(toys::names(error_for(header(3, size(1))), {"file", "8", "16"}));
}

TEST(Idx, SaysWhenTheLengthIsNotTheHeaders) {
  EXPECT_TRUE(toys::names(error_for(header(3, size(60'000) + size(28) + size(28)) + std::string(1008, 'x')),
                          {"file", "60,000", "28x28", "47,040,016", "1,024"}));
  EXPECT_TRUE(toys::names(error_for(header(1, size(2)) + "abc"), {"file", "2", "10", "11"}));
  const unsigned most = 0xffffffffU;
  EXPECT_TRUE(toys::names(error_for(header(1, size(most))), {"file", "4,294,967,295", "4,294,967,303", "8"}));
  EXPECT_TRUE(toys::names(error_for(header(3, size(most) + size(most) + size(most))),
                          {"file", "4,294,967,295", "4294967295x4294967295"}));
}

TEST(Idx, NamesTheMissingFile) {
  EXPECT_TRUE(toys::names(toys::message_of([] { read_idx("nowhere/train-images-idx3-ubyte"); }),
                          {"nowhere/train-images-idx3-ubyte"}));
}

TEST(Idx, WritesOnlyWhatTheFormatHolds) {
  EXPECT_THROW(write_idx("file", Array(NumberType::kFloat32, {3})), Error);
  EXPECT_THROW(write_idx("file", Array(NumberType::kUInt8, {3, 3})), Error);
}

}  // namespace
}  // namespace anesi
